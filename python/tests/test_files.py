import copy
import pickle

import numpy as np
import pytest

import headwater


@pytest.fixture
def stream(simulation):
    return headwater.Stream(5, init="random").update_many(simulation.observations[:500])


def test_a_model_comes_back(stream, tmp_path):
    stream.save(tmp_path / "model.h5")
    model = headwater.Model.load(tmp_path / "model.h5")
    ended = stream.ended()
    np.testing.assert_array_equal(model.basis, ended.basis)
    np.testing.assert_array_equal(model.last_basis, ended.last_basis)
    assert model.parameters == ended.parameters and model.options == ended.options
    assert (model.prior, model.engine, model.method) == ("basis-selection", "exact", "online")
    assert (model.num_channels, model.num_components, model.observations) == (8, 5, 500)
    trace = model.trace()
    assert {"t", "log_likelihood", "stay_off", "basis_1_1", "basis_8_5"} <= set(trace)
    assert trace["t"][-1] == 500 and trace["log_likelihood"][-1] == model.log_likelihood


def test_a_model_can_be_pickled(stream):
    model = stream.ended()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.basis, model.basis)
    assert repr(again) == repr(model)


def test_copies_go_on_by_themselves(stream, simulation):
    rest = simulation.observations[500:900]
    before = stream.basis
    copies = [stream.copy(), copy.copy(stream), copy.deepcopy(stream)]
    for one in copies:
        one.update_many(rest)
    np.testing.assert_array_equal(stream.basis, before)
    stream.update_many(rest)
    for one in copies:
        np.testing.assert_array_equal(one.basis, stream.basis)


@pytest.mark.parametrize("options", [
    dict(),  # nothing is estimated yet
    dict(init="random"),
    dict(init="random", restarts=2),
    dict(init="random", engine="particle", num_particles=100, smoother="paris"),
    dict(init="random", prior="gamma", num_particles=100, seed=5),
])
def test_a_pickled_stream_goes_on_with_the_same_bits(options, simulation):
    Y = simulation.observations[:1200]
    stream = headwater.Stream(5, **options).update_many(Y[:500])
    again = pickle.loads(pickle.dumps(stream))
    assert again.observations == 500
    for one in (stream, again):
        one.update_many(Y[500:])
    np.testing.assert_array_equal(again.basis, stream.basis)
    assert again.parameters == stream.parameters and again.last_step == stream.last_step
    assert again.surprise == stream.surprise


@pytest.mark.filterwarnings("ignore::headwater.ConvergenceWarning")
def test_a_finished_stream_stays_finished(stream):
    stream.finish()
    again = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(again.basis, stream.basis)
    with pytest.raises(ValueError, match="finished"):
        again.update(np.ones(8))


def test_batch_em_cannot_be_put_away(counts):
    with pytest.raises(ValueError, match="batch"):
        pickle.dumps(headwater.Stream(2, method="batch").update_many(counts))


@pytest.mark.parametrize("options, arguments", [
    (dict(init="random"), ["--init", "random"]),
    (dict(prior="gamma", num_particles=50, init="random", set={"shape": 2.0}),
     ["--init", "random", "--particles", 50, "--set", "shape=2"]),
    (dict(restarts=2, init="random"), ["--restarts", 2, "--init", "random"]),
])
def test_checkpoints_are_the_commands(options, arguments, command, simulation, tmp_path):
    """What either has put away, the other one goes on with, and both end with the same bytes."""
    Y = simulation.observations[:900]
    np.save(tmp_path / "half.npy", Y[:400])
    np.save(tmp_path / "all.npy", Y)
    prior = options.get("prior", "basis-selection")
    fit = ["--components", 5, "--prior", prior, *arguments, "--quiet", "--out"]
    command("fit", "half.npy", *fit, "half.h5", "--checkpoint", "theirs.ckpt")
    command("fit", "all.npy", *fit, "whole.h5")
    stream = headwater.Stream.load(tmp_path / "theirs.ckpt", 5, **options)
    assert stream.observations == 400
    stream.update_many(Y[400:]).save(tmp_path / "ours.h5")
    whole = (tmp_path / "whole.h5").read_bytes()
    assert (tmp_path / "ours.h5").read_bytes() == whole

    half = headwater.Stream(5, **options).update_many(Y[:400])
    half.save_checkpoint(tmp_path / "ours.ckpt")
    command("fit", "all.npy", *fit, "resumed.h5", "--resume", "ours.ckpt")
    assert (tmp_path / "resumed.h5").read_bytes() == whole


def test_a_checkpoint_of_another_fit_is_refused(stream, tmp_path):
    stream.save_checkpoint(tmp_path / "fit.ckpt")
    with pytest.raises(ValueError, match="belongs to a fit with"):
        headwater.Stream.load(tmp_path / "fit.ckpt", 5, init="random", burn_in=7)
    with pytest.raises(FileNotFoundError):
        headwater.Stream.load(tmp_path / "nowhere.ckpt", 5)
    with pytest.raises(OSError, match="no_folder"):
        stream.save_checkpoint(tmp_path / "no_folder" / "fit.ckpt")


def test_what_files_cannot_do_is_an_os_error(stream, tmp_path):
    with pytest.raises(FileNotFoundError):
        headwater.Model.load(tmp_path / "nowhere.h5")
    with pytest.raises(OSError, match="no_folder"):
        stream.save(tmp_path / "no_folder" / "model.h5")


def test_what_is_no_model_is_a_value_error(tmp_path):
    (tmp_path / "text.h5").write_text("words")
    with pytest.raises(ValueError, match="text.h5"):
        headwater.Model.load(tmp_path / "text.h5")


def test_data_that_do_not_fit_a_model_are_named(stream):
    model = stream.ended()
    with pytest.raises(ValueError, match="Y has 7 channels; the model has 8"):
        model.apply(np.ones((2, 7)))
    with pytest.raises(ValueError, match="Y: rows 0 to 1 .* negative"):
        model.score(-np.ones((2, 8)))
    with pytest.raises(ValueError, match="Y has no rows"):
        model.predict(np.ones((0, 8)))
    with pytest.raises(ValueError, match="no option 'particles'"):
        model.apply(np.ones((2, 8)), particles=3)


def test_rows_alone_are_first_observations(stream, simulation):
    model, Y = stream.ended(), simulation.observations[:20]
    alone = model.apply(Y, sequence=False)
    for i in range(20):
        np.testing.assert_array_equal(alone[i], model.apply(Y[i:i + 1])[0])


def test_forecasts_of_a_model(stream, simulation):
    model, Y = stream.ended(), simulation.observations[:50]
    forecast = model.forecast(Y, 3)
    np.testing.assert_allclose(forecast[0], model.predict(np.vstack([Y, Y[:1]]))[-1], rtol=1e-12)


def test_an_impossible_observation_leaves_the_score_finite():
    basis = np.array([[5.0, 1.0], [0.0, 0.0], [1.0, 4.0]])  # nothing in the second channel
    model = headwater.Stream(2, init=basis, hold=["basis"]).update_many(np.ones((3, 3))).ended()
    score = model.score(np.array([[3.0, 0, 2], [4, 7, 1], [2, 0, 2]]))
    assert score.impossible_observations == 1
    assert np.isneginf(score.log_predictive[1]) and np.isfinite(score.log_predictive[[0, 2]]).all()
    assert score.log_likelihood == score.log_predictive[[0, 2]].sum()
