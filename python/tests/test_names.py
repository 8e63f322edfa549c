"""Names of channels in frames, streams, models and the estimator."""

import json
import pickle

import numpy as np
import pytest

import headwater

pandas = pytest.importorskip("pandas")

NAMES = ["north", "south", "east"]
TURNED = ["east", "north", "south"]


def frame(rows=80, names=NAMES, seed=1):
    counts = np.random.default_rng(seed).poisson([2.0, 5.0, 9.0], (rows, 3))
    return pandas.DataFrame(counts, columns=names)


def stream(**options):
    return headwater.Stream(2, init="random", counts="poisson", **options)


@pytest.fixture
def model():
    return stream().update_many(frame()).ended()


def test_a_stream_keeps_the_names_of_the_first_frame(model, tmp_path):
    assert model.names == NAMES
    model.save(tmp_path / "model.h5")
    assert headwater.Model.load(tmp_path / "model.h5").names == NAMES
    assert pickle.loads(pickle.dumps(model)).names == NAMES


def test_names_go_with_copies_pickles_and_checkpoints(tmp_path):
    made = stream().update_many(frame())
    made.save_checkpoint(tmp_path / "fit.ckpt")
    loaded = headwater.Stream.load(tmp_path / "fit.ckpt", 2, init="random", counts="poisson")
    for other in (made.copy(), pickle.loads(pickle.dumps(made)), loaded):
        assert other.names == NAMES


def test_columns_in_another_order_are_put_in_order(model):
    expected = model.score(frame())
    with pytest.warns(UserWarning, match="in another order than those of the model"):
        found = model.score(frame()[TURNED])
    assert found.log_likelihood == expected.log_likelihood
    made = stream().update_many(frame())
    made.update_many(frame(seed=2))
    turned = stream().update_many(frame())
    with pytest.warns(UserWarning, match="in another order than those of the stream"):
        turned.update_many(frame(seed=2)[TURNED])
    assert np.array_equal(made.ended().basis, turned.ended().basis)


def test_rows_in_another_order_are_put_in_order():
    made, turned = stream(), stream()
    for _, row in frame().iterrows():
        made.update(row)
    turned.update(frame().iloc[0])
    with pytest.warns(UserWarning, match="y: its channels are in another order"):
        for _, row in frame()[TURNED].iloc[1:].iterrows():
            turned.update(row)
    assert made.names == turned.names == NAMES
    assert np.array_equal(made.ended().basis, turned.ended().basis)


def test_exposures_follow(model):
    exposure = pandas.DataFrame(np.random.default_rng(3).uniform(.5, 2, (80, 3)), columns=NAMES)
    expected = model.score(frame(), exposure=exposure.to_numpy()).log_likelihood
    with pytest.warns(UserWarning):
        assert model.score(frame(), exposure=exposure[TURNED]).log_likelihood == expected
        assert model.score(frame()[TURNED], exposure=exposure).log_likelihood == expected
        plain = exposure[TURNED].to_numpy()  # in the order of the data
        assert model.score(frame()[TURNED], exposure=plain).log_likelihood == expected


def test_other_names_are_an_error(model):
    with pytest.raises(ValueError, match="'south' is missing; 'up' is not among them"):
        model.score(frame(names=["north", "up", "east"]))
    with pytest.raises(ValueError, match="'south' is missing; 'up' is not among them"):
        stream().update_many(frame()).update_many(frame(names=["north", "up", "east"]))


def test_arrays_and_numbered_columns_have_no_names(model):
    assert stream().update_many(frame().to_numpy()).names == []
    assert stream().update_many(pandas.DataFrame(frame().to_numpy())).names == []
    assert model.score(frame().to_numpy()).log_likelihood == model.score(frame()).log_likelihood


def test_names_can_be_set():
    made = stream()
    made.names = NAMES
    made.update_many(frame().to_numpy())
    assert made.ended().names == NAMES
    with pytest.raises(ValueError, match="names: .*2 names for 3 channels"):
        made.names = ["a", "b"]
    with pytest.raises(ValueError, match="NUL"):
        made.names = ["a", "b", "c\0"]


def test_names_that_are_no_text(tmp_path):
    """What is no UTF-8 in a file of the command comes back the same."""
    made = stream()
    made.names = ["a", b"\xff".decode("utf-8", "surrogateescape"), "ü"]
    made.update_many(frame().to_numpy())
    made.save(tmp_path / "m.h5")
    assert headwater.Model.load(tmp_path / "m.h5").names == made.names


def test_the_command_shows_them(model, tmp_path, command):
    model.save(tmp_path / "m.h5")
    assert json.loads(command("show", "m.h5", "--json"))["names"] == NAMES


@pytest.mark.filterwarnings("ignore::headwater.ConvergenceWarning")
def test_the_estimator_has_them():
    estimator = headwater.OnlineNMF(2, init="random", counts="poisson", random_state=1)
    estimator.fit(frame())
    assert list(estimator.feature_names_in_) == NAMES
    assert estimator.model_.names == NAMES
    with pytest.raises(ValueError):  # scikit-learn's own rule
        estimator.transform(frame()[TURNED])
    estimator.fit(frame().to_numpy())
    assert estimator.model_.names == []
