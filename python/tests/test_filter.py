"""A model that takes one observation at a time gives the numbers of the command and of Model."""

import json

import numpy as np
import pytest

import headwater


@pytest.fixture(scope="module")
def model(simulation):
    return headwater.Stream(3, init="random", counts="poisson").update_many(
        simulation.observations[:400]).ended()


@pytest.mark.parametrize("engine", [{}, {"engine": "particle", "num_particles": 50, "seed": 4}])
def test_steps_are_the_rows_of_score_and_apply(model, simulation, engine):
    Y = simulation.observations[400:440].astype(float)
    Y[3, 2] = np.nan
    step_by_step = model.filter(**engine)
    reports = [step_by_step.step(y, surprise=True) for y in Y]
    score = model.score(Y, surprise=True, **engine)
    assert [r.log_predictive for r in reports] == list(score.log_predictive)
    assert [r.tail_probability for r in reports] == list(score.tail_probability)
    assert np.array_equal([r.predicted for r in reports], model.predict(Y, **engine))
    assert np.array_equal([r.activation for r in reports], model.apply(Y, **engine))
    assert [r.t for r in reports] == list(range(1, 41))
    assert step_by_step.observations == 40
    assert step_by_step.log_likelihood == score.log_likelihood
    seed = {"seed": engine["seed"]} if "seed" in engine else {}
    ahead = step_by_step.forecast(3, quantiles=[.1, .9])
    expected = model.forecast(Y, 3, quantiles=[.1, .9], **engine)
    assert np.array_equal(ahead.mean, expected.mean)
    assert np.array_equal(ahead.quantiles, expected.quantiles), seed


def test_the_command_has_the_same_numbers(model, simulation, tmp_path, command):
    Y = simulation.observations[400:430]
    model.save(tmp_path / "model.h5")
    np.save(tmp_path / "y.npy", Y)
    filtered = model.filter()
    reports = [filtered.step(y) for y in Y]
    totals = json.loads(command("score", "model.h5", "y.npy", "--out", "s.npy", "--predict", "p.npy",
                                "--json"))
    command("apply", "model.h5", "y.npy", "--out", "x.npy")
    assert [r.log_predictive for r in reports] == list(np.load(tmp_path / "s.npy")[:, 0])
    assert np.array_equal([r.predicted for r in reports], np.load(tmp_path / "p.npy"))
    assert np.array_equal([r.activation for r in reports], np.load(tmp_path / "x.npy"))
    assert filtered.log_likelihood == totals["log_likelihood"]


def test_exposures_and_sequences(model, simulation):
    Y = simulation.observations[400:420].astype(float)
    exposure = np.random.default_rng(1).uniform(0, 2, Y.shape)
    exposure[0, 0] = 0
    filtered = model.filter()
    reports = [filtered.step(y, e, new_sequence=t == 10)
               for t, (y, e) in enumerate(zip(Y, exposure))]
    lengths = [10, 10]
    score = model.score(Y, exposure=exposure, lengths=lengths)
    assert [r.log_predictive for r in reports] == list(score.log_predictive)
    assert np.array_equal([r.predicted for r in reports],
                          model.predict(Y, exposure=exposure, lengths=lengths))


def test_series_are_put_in_order(simulation):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(simulation.observations[:60],
                             columns=[f"c{m}" for m in range(8)])
    model = headwater.Stream(2, init="random", counts="poisson").update_many(
        frame).ended()
    expected = model.filter().step(frame.iloc[0])
    with pytest.warns(UserWarning, match="another order than those of the model"):
        turned = model.filter().step(frame.iloc[0][::-1])
    assert turned.log_predictive == expected.log_predictive
    with pytest.raises(ValueError, match="'c0' is missing"):
        model.filter().step(frame.iloc[0].rename({"c0": "x"}))


def test_bad_steps_are_refused_and_leave_the_filter_as_it_was(model, simulation):
    y = simulation.observations[0].astype(float)
    filtered = model.filter()
    with pytest.raises(ValueError, match="before the first observation"):
        filtered.forecast(1)
    for bad, message in [(y[:3], "3 channels"), (-y - 1, "negative"), (y + np.inf, "infinite"),
                         (np.ones((2, 8)), "dimensions")]:
        with pytest.raises(ValueError, match=message):
            filtered.step(bad)
    with pytest.raises(ValueError, match="exposure"):
        filtered.step(y, -np.ones(8))
    assert filtered.observations == 0
    assert filtered.step(y).log_predictive == model.score(y[None]).log_predictive[0]
    with pytest.raises(ValueError, match="phase"):
        model.filter(phase=-1)
