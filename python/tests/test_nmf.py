
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import headwater
from headwater import OnlineNMF

pytestmark = pytest.mark.filterwarnings("ignore::headwater.ConvergenceWarning")


# Short streams, as these checks have, end in few M-steps, which is warned of; nothing is excepted.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([OnlineNMF(2, random_state=1),
                          OnlineNMF(2, "gamma", num_particles=100, random_state=1)])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted(request):
    Y = headwater.simulate(channels=6, components=3, length=2000, seed=4).observations
    return OnlineNMF(3, random_state=1).fit(Y), Y


def test_it_is_a_stream(fitted):
    nmf, Y = fitted
    stream = headwater.Stream(3, seed=1).update_many(Y).finish()
    np.testing.assert_array_equal(nmf.components_, stream.basis.T)
    assert nmf.parameters_ == stream.parameters
    assert nmf.components_.shape == (3, 6) and nmf.n_components_ == 3
    assert nmf.n_features_in_ == 6 and nmf.n_steps_ == 2000
    assert list(nmf.get_feature_names_out()) == ["onlinenmf0", "onlinenmf1", "onlinenmf2"]


def test_rows_stand_alone_unless_asked(fitted):
    nmf, Y = fitted
    alone = nmf.transform(Y[:50])
    np.testing.assert_array_equal(nmf.transform(Y[:50][::-1])[::-1], alone)
    np.testing.assert_array_equal(nmf.transform(Y[7:8]), alone[7:8])
    sequence = nmf.transform(Y[:50], sequence=True)
    np.testing.assert_array_equal(sequence, nmf.model_.apply(Y[:50]))
    assert not np.array_equal(sequence, alone)
    asked = clone(nmf).set_params(sequence=True).fit(Y)
    np.testing.assert_array_equal(asked.transform(Y[:50]), sequence)


def test_scores_are_log_likelihoods(fitted):
    nmf, Y = fitted
    alone = [nmf.model_.score(y[None]).log_likelihood for y in Y[:20]]
    assert nmf.score(Y[:20]) == pytest.approx(np.mean(alone), rel=1e-12)
    assert nmf.score(Y, sequence=True) == nmf.model_.score(Y).per_observation
    assert nmf.score(Y, sequence=True) > nmf.score(Y)


def test_inverse_transform(fitted):
    nmf, Y = fitted
    X = nmf.transform(Y, sequence=True)
    expected = nmf.inverse_transform(X)
    np.testing.assert_allclose(expected, X @ nmf.components_)
    # Explains most of what differs between rows.
    assert np.var(Y - expected) < 0.5 * np.var(Y - Y.mean(axis=0))
    background = OnlineNMF(2, background=True, random_state=1).fit(Y[:500])
    assert background.background_.shape == (6,)
    np.testing.assert_allclose(background.inverse_transform(np.zeros((1, 2)))[0],
                               background.background_)


def test_pieces_are_the_whole(fitted):
    nmf, Y = fitted
    pieces = OnlineNMF(3, random_state=1)
    for first in range(0, len(Y), 300):
        pieces.partial_fit(Y[first:first + 300])
    np.testing.assert_array_equal(pieces.components_, nmf.components_)
    assert pieces.n_steps_ == 2000
    with pytest.raises(ValueError, match="partial_fit"):
        OnlineNMF(3, method="batch").partial_fit(Y)


def test_row_by_row_does_not_forget(fitted):
    nmf, Y = fitted
    by_row = OnlineNMF(3, random_state=1)
    for y in Y:
        by_row.partial_fit(y[None])
    np.testing.assert_array_equal(by_row.components_, nmf.components_)


def test_batch(fitted):
    _, Y = fitted
    nmf = OnlineNMF(3, method="batch", iterations=30, random_state=1).fit(Y[:300])
    assert nmf.model_.method == "batch" and nmf.components_.shape == (3, 6)


def test_short_fits_warn(counts):
    with pytest.warns(headwater.ConvergenceWarning):
        OnlineNMF(2, init="random", random_state=1).fit(counts)


def test_sparse_and_missing(fitted):
    nmf, Y = fitted
    for form in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix):
        np.testing.assert_array_equal(OnlineNMF(3, random_state=1).fit(form(Y)).components_,
                                      nmf.components_)
        np.testing.assert_array_equal(nmf.transform(form(Y)), nmf.transform(Y))
    holes = Y.copy()
    holes[3, 2] = np.nan
    assert np.isfinite(nmf.transform(holes)).all()


def test_names_and_frames(fitted):
    pandas = pytest.importorskip("pandas")
    _, Y = fitted
    frame = pandas.DataFrame(Y[:300], columns=list("abcdef"))
    nmf = OnlineNMF(2, random_state=1).set_output(transform="pandas").fit(frame)
    assert list(nmf.feature_names_in_) == list("abcdef")
    found = nmf.transform(frame)
    assert list(found.columns) == ["onlinenmf0", "onlinenmf1"]
    np.testing.assert_array_equal(found.index, frame.index)


def test_pipeline_and_grid_search(fitted):
    _, Y = fitted
    pipe = make_pipeline(FunctionTransformer(np.round), OnlineNMF(3, random_state=1)).fit(Y[:600])
    assert pipe.transform(Y[:5]).shape == (5, 3)
    search = GridSearchCV(OnlineNMF(random_state=1, sequence=True), {"n_components": [1, 3]},
                          cv=TimeSeriesSplit(2), error_score="raise").fit(Y)
    assert search.best_params_ == {"n_components": 3}


def test_as_librosa_calls_it(fitted):
    """What librosa.decompose.decompose(S, transformer=T, sort=True) does with T: S is features x
    frames, fit_transform is given its transpose, components_ are read, and sorted by their peaks."""
    S = fitted[1][:400].T
    transformer = OnlineNMF(3, random_state=1)
    activations = transformer.fit_transform(S.T).T
    components = transformer.components_
    components = components.T
    order = np.argsort(np.argmax(components, axis=0))
    components, activations = components[:, order], activations[order]
    assert components.shape == (6, 3) and activations.shape == (3, 400)
    # fit=False: an estimator that has been fitted.
    assert transformer.transform(S.T).T.shape == (3, 400)


def test_not_fitted(fitted):
    with pytest.raises(NotFittedError):
        OnlineNMF().transform(fitted[1])
    assert not hasattr(OnlineNMF(), "components_")


def test_random_states(counts):
    first = OnlineNMF(2, init="random", random_state=np.random.RandomState(3)).fit(counts)
    second = OnlineNMF(2, init="random", random_state=np.random.RandomState(3)).fit(counts)
    np.testing.assert_array_equal(first.components_, second.components_)
    OnlineNMF(2, init="random").fit(counts)


def test_every_option_is_passed_on():
    import inspect
    ours = set(inspect.signature(OnlineNMF).parameters)
    theirs = set(inspect.signature(headwater.Stream).parameters)
    rare = {"backward", "backward_draws", "window_tolerance", "block", "scale_in", "paper_exact",
            "basis_shape", "basis_rate", "basis_floor", "transition_weight", "trace_every",
            "strict", "proposal", "resampling", "resample_below", "beam_width", "outliers", "start_on",
            "standard_errors", "round"}
    assert theirs - ours == rare | {"num_components", "seed"}
