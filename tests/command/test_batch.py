"""Batch EM, compared with a forward-backward EM in NumPy."""

import numpy as np
import pytest

from hidden_markov import Parameters, batch_em_step, log_likelihood, selection_chain, simulate
from support import held_model, largest_relative_difference, settings

STAY_OFF, STAY_ON = 0.85, 0.7
BASIS = np.random.default_rng(10).uniform(0, 10, (6, 3))
NEAR = BASIS * np.exp(0.3 * np.random.default_rng(11).standard_normal((6, 3)))
START = Parameters(NEAR, 0.9, 0.6)
ITERATIONS = 5


def stream(length, seed=12):
    return simulate(selection_chain(3, STAY_OFF, STAY_ON), BASIS, length, seed)


def with_holes(y):
    """Makes a tenth of the cells and a few whole observations missing."""
    random = np.random.default_rng(13)
    y = np.where(random.random(y.shape) < 0.1, np.nan, y)
    y[[0, 50, 51]] = np.nan
    return y


def fit(headwater, y, *arguments, start=START):
    headwater.save("counts.npy", y)
    headwater.save("start.npy", start.basis)
    headwater("fit", "counts.npy", "--components", 3, "--prior", "basis-selection",
              *settings(stay_off=start.stay_off, stay_on=start.stay_on), "--init", "start.npy",
              "--method", "batch", *arguments, "--out", "model.h5")
    return "model.h5"


def trace_of_basis(trace, row):
    entries = [trace[f"basis_{m + 1}_{k + 1}"][row] for m in range(6) for k in range(3)]
    return np.reshape(entries, (6, 3))


@pytest.mark.parametrize("prepare", [lambda y: y, with_holes], ids=["complete", "with holes"])
def test_each_iteration_is_that_of_forward_backward_em(headwater, prepare):
    y = prepare(stream(600))
    trace = headwater.trace(fit(headwater, y, "--iterations", ITERATIONS, "--tolerance", 0,
                                "--paper-exact"))
    assert list(trace["t"]) == list(range(ITERATIONS + 1))
    parameters = START
    for iteration in range(ITERATIONS + 1):
        found = trace_of_basis(trace, iteration)
        assert largest_relative_difference(found, parameters.basis) <= 1e-11
        assert trace["stay_off"][iteration] == pytest.approx(parameters.stay_off, rel=1e-11)
        assert trace["stay_on"][iteration] == pytest.approx(parameters.stay_on, rel=1e-11)
        assert trace["log_likelihood"][iteration] == pytest.approx(log_likelihood(y, parameters),
                                                                   rel=1e-12)
        parameters = batch_em_step(y, parameters)


def test_the_model_is_where_the_trace_ends(headwater):
    model = fit(headwater, stream(300), "--iterations", 4, "--tolerance", 0)
    trace, facts = headwater.trace(model), headwater.facts(model)
    np.testing.assert_array_equal(headwater.basis(model), trace_of_basis(trace, -1))
    assert facts["log_likelihood"] == trace["log_likelihood"][-1]
    assert facts["prior"]["parameters"]["stay_off"] == trace["stay_off"][-1]
    assert facts["prior"]["parameters"]["stay_on"] == trace["stay_on"][-1]
    assert (facts["method"], facts["engine"], facts["observations"]) == ("batch", "exact", 300)


def test_weak_priors_hardly_act(headwater):
    y = stream(600)
    model = fit(headwater, y, "--iterations", 1, "--tolerance", 0)
    expected = batch_em_step(y, START)
    assert largest_relative_difference(headwater.basis(model), expected.basis) <= 1e-6


@pytest.mark.parametrize("held", [[], ["stay_off", "stay_on"], ["basis"]],
                         ids=["all learned", "prior held", "basis held"])
@pytest.mark.parametrize("init", ["near", "random"])
def test_the_log_likelihood_never_falls(headwater, held, init):
    headwater.save("counts.npy", stream(500, seed=14))
    headwater.save("near.npy", START.basis)
    # A basis that is held must be given, a random one too.
    headwater.save("drawn.npy", np.random.default_rng(5).uniform(0, 5, START.basis.shape))
    start = "near.npy" if init == "near" else "drawn.npy" if "basis" in held else "random"
    headwater("fit", "counts.npy", "--components", 3, "--prior", "basis-selection",
              "--method", "batch", "--iterations", 300, "--tolerance", 0, "--seed", 5,
              "--init", start, "--out", "model.h5",
              *[argument for name in held for argument in ("--hold", name)])
    values = headwater.trace("model.h5")["log_likelihood"]
    assert len(values) == 301
    assert np.all(np.diff(values) >= -1e-10 * np.abs(values[1:]))


@pytest.mark.parametrize("length", [2, 5, 20])
def test_the_log_likelihood_of_a_short_record_never_falls(headwater, length):
    """In short records the first state's distribution, which the M-step ignores, matters most."""
    for seed in range(5):
        y = simulate(selection_chain(3, 0.95, 0.9), BASIS, length, seed)
        values = headwater.trace(fit(headwater, y, "--iterations", 100, "--tolerance", 0,
                                     "--paper-exact"))["log_likelihood"]
        assert np.all(np.diff(values) >= -1e-10 * np.abs(values[1:]))


@pytest.mark.parametrize("seed", [15, 16, 17])
def test_at_convergence_the_truth_is_not_likelier(headwater, seed):
    """At the maximum this is certain; we assume that a start near the truth leads there."""
    y = stream(1500, seed)
    model = fit(headwater, y, "--iterations", 500, "--tolerance", 1e-10)
    truth = held_model(headwater, "truth.h5", BASIS, STAY_OFF, STAY_ON)
    at_truth = headwater.score(truth, "counts.npy")["log_likelihood"]
    assert headwater.facts(model)["log_likelihood"] >= at_truth
    assert headwater.facts(model)["iterations"] < 500


def test_the_log_likelihood_is_that_of_the_model(headwater):
    model = fit(headwater, with_holes(stream(500)), "--iterations", 20, "--tolerance", 0)
    scored = headwater.score(model, "counts.npy")["log_likelihood"]
    assert scored == pytest.approx(headwater.facts(model)["log_likelihood"], rel=1e-13)


def test_tolerance_0_runs_all_iterations(headwater):
    model = fit(headwater, stream(200), "--iterations", 700, "--tolerance", 0)
    assert headwater.facts(model)["iterations"] == 700
    assert len(headwater.trace(model)["t"]) == 701


def test_a_tolerance_stops_when_an_iteration_gains_less(headwater):
    model = fit(headwater, stream(400), "--iterations", 700, "--tolerance", 1e-5)
    values = headwater.trace(model)["log_likelihood"]
    gains = np.diff(values) / np.abs(values[1:])
    assert headwater.facts(model)["iterations"] == len(gains) < 700
    assert gains[-1] < 1e-5
    assert np.all(gains[:-1] >= 1e-5)


def test_what_is_held_stays_to_the_last_bit(headwater):
    model = fit(headwater, stream(200), "--iterations", 3, "--tolerance", 0,
                "--hold", "basis", "--hold", "stay_on")
    np.testing.assert_array_equal(headwater.basis(model), START.basis)
    assert headwater.parameters(model)["stay_on"] == START.stay_on
    assert headwater.parameters(model)["stay_off"] != START.stay_off
