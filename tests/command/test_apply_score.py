"""Activations and predictive probabilities, compared with sums over all paths and with
forward-backward."""

import numpy as np
import pytest

from hidden_markov import (general_chain, poisson_log_likelihoods, run_filter, selection_chain,
                           simulate, smooth, sum_over_paths)
from support import as_csv, assert_close, held_model

BASIS = np.random.default_rng(20).uniform(0, 10, (5, 3))
STAY_OFF, STAY_ON = 0.8, 0.7

# Small enough for enumeration: K = 2, T = 6, zeros in the counts and in the basis.
SMALL_BASES = {
    "dense": np.array([[1.5, 0.7], [0.2, 3.0], [2.5, 2.5]]),
    "with zeros": np.array([[1.5, 0.0], [0.0, 3.0], [0.5, 2.5]]),
}
SMALL_PRIORS = [(0.9, 0.7), (0.3, 0.05), (0.999, 0.99), ([0.9, 0.5], [0.2, 0.6])]
SMALL_COUNTS = np.array([[1, 0, 3], [0, 0, 0], [2, 4, 1], [0, 1, 2], [5, 0, 0], [0, 0, 1]], float)


def stream(length=200, seed=21):
    return simulate(selection_chain(3, STAY_OFF, STAY_ON), BASIS, length, seed)


def with_holes(y):
    random = np.random.default_rng(22)
    y = np.where(random.random(y.shape) < 0.2, np.nan, y)
    y[[0, 60, 61]] = np.nan
    return y


def run_all(headwater, model, data):
    """All results of apply and score: filtered, smoothed, log predictive, predicted, totals."""
    headwater("apply", model, data, "--out", "filtered.npy")
    headwater("apply", model, data, "--out", "smoothed.npy", "--smooth")
    totals = headwater.score(model, data, "--out", "steps.npy", "--predict", "predicted.npy")
    names = ["filtered.npy", "smoothed.npy", "steps.npy", "predicted.npy"]
    return [headwater.load(name) for name in names] + [totals]


def check_against_forward_backward(headwater, model, y, chain, basis, background=0.0):
    headwater.save("y.npy", y)
    filtered, smoothed, steps, predicted, totals = run_all(headwater, model, "y.npy")
    table = poisson_log_likelihoods(y, basis, chain.states, background)
    expected = run_filter(table, chain)
    assert_close(filtered, expected.after @ chain.states)
    assert_close(smoothed, smooth(chain, expected)[0] @ chain.states)
    assert_close(steps[:, 0], expected.log_predictive)
    assert_close(predicted, expected.before @ chain.states @ basis.T + background)
    assert totals["log_likelihood"] == pytest.approx(expected.log_predictive.sum(), rel=1e-12)


@pytest.mark.parametrize("prior", SMALL_PRIORS, ids=str)
@pytest.mark.parametrize("basis", SMALL_BASES.values(), ids=SMALL_BASES.keys())
def test_they_are_sums_over_every_path(headwater, basis, prior):
    model = held_model(headwater, "model.h5", basis, *prior)
    headwater.write("y.csv", as_csv(SMALL_COUNTS))
    filtered, smoothed, steps, _, totals = run_all(headwater, model, "y.csv")
    chain = selection_chain(2, *prior)
    table = poisson_log_likelihoods(SMALL_COUNTS, basis, chain.states)
    filtered_laws, smoothed_laws, log_totals = sum_over_paths(table, chain)
    assert_close(filtered, filtered_laws @ chain.states)
    assert_close(smoothed, smoothed_laws @ chain.states)
    assert_close(np.cumsum(steps), log_totals)
    assert totals["log_likelihood"] == pytest.approx(log_totals[-1], rel=1e-12)


@pytest.mark.parametrize("prior", [(STAY_OFF, STAY_ON), ([0.7, 0.8, 0.9], [0.6, 0.5, 0.95])],
                         ids=["shared", "per component"])
@pytest.mark.parametrize("prepare", [lambda y: y, with_holes], ids=["complete", "with holes"])
def test_they_are_those_of_forward_backward(headwater, prior, prepare):
    model = held_model(headwater, "model.h5", BASIS, *prior)
    chain = selection_chain(3, *prior)
    check_against_forward_backward(headwater, model, prepare(stream()), chain, BASIS)


def test_a_finite_prior_is_treated_alike(headwater):
    states = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 2.0], [0.0, 1.0]])
    transition = np.array([[0.7, 0.1, 0.1, 0.1], [0.2, 0.6, 0.2, 0.0], [0.0, 0.3, 0.5, 0.2],
                           [0.3, 0.3, 0.0, 0.4]])
    chain, basis = general_chain(states, transition), BASIS[:, :2]
    y = simulate(chain, basis, 200, seed=23)
    for name, matrix in ("states", states), ("transition", transition), ("start", basis):
        headwater.save(f"{name}.npy", matrix)
    headwater.save("y.npy", y)
    headwater("fit", "y.npy", "--components", 2, "--prior", "finite", "--set",
              "states=states.npy", "--set", "transition=transition.npy", "--init", "start.npy",
              "--hold", "basis", "--hold", "transition", "--average", "none", "--out", "model.h5")
    check_against_forward_backward(headwater, "model.h5", y, chain, basis)


def test_the_background_is_part_of_the_intensity_but_not_of_the_activations(headwater):
    background = np.array([0.5, 1.0, 0.0, 2.0, 0.1])
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON, background)
    chain = selection_chain(3, STAY_OFF, STAY_ON)
    check_against_forward_backward(headwater, model, stream(), chain, BASIS, background)


def test_the_background_is_reported_apart(headwater):
    headwater.save("y.npy", stream(400) + 1)
    headwater("fit", "y.npy", "--components", 2, "--prior", "basis-selection", "--background",
              "--out", "model.h5")
    facts = headwater.facts("model.h5")
    assert facts["background"] is True
    assert (facts["channels"], facts["components"]) == (5, 2)
    assert headwater.basis("model.h5").shape == (5, 2)
    headwater("apply", "model.h5", "y.npy", "--out", "x.npy")
    assert headwater.load("x.npy").shape == (400, 2)


def test_without_background_there_is_none(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    assert headwater.facts(model)["background"] is False


def test_the_total_is_the_sum_of_the_steps(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    headwater.write("y.csv", as_csv(stream()))
    totals = headwater.score(model, "y.csv", "--out", "steps.csv")
    steps = headwater.load("steps.csv")
    assert steps.shape == (200, 1)
    assert totals["observations"] == 200
    assert totals["log_likelihood"] == pytest.approx(steps.sum(), rel=1e-13)
    assert totals["per_observation"] == pytest.approx(steps.mean(), rel=1e-13)


def test_an_online_fit_with_all_held_has_the_same_log_likelihood(headwater):
    headwater.save("y.npy", stream())
    headwater.save("start.npy", BASIS)
    headwater("fit", "y.npy", "--components", 3, "--prior", "basis-selection", "--init",
              "start.npy", "--set", "stay_off=0.8", "--set", "stay_on=0.7", "--hold", "basis",
              "--hold", "stay_off", "--hold", "stay_on", "--out", "model.h5")
    scored = headwater.score("model.h5", "y.npy")
    assert headwater.facts("model.h5")["log_likelihood"] == pytest.approx(
        scored["log_likelihood"], rel=1e-13)


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", "na", " NA "])
def test_a_missing_cell_is_skipped(headwater, cell):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    smaller = held_model(headwater, "smaller.h5", np.delete(BASIS, 1, axis=0), STAY_OFF, STAY_ON)
    y = stream(50).astype(int)
    lines = [",".join([str(row[0]), cell] + [str(v) for v in row[2:]]) + "\n" for row in y]
    headwater.write("holes.csv", "".join(lines))
    headwater.write("fewer.csv", as_csv(np.delete(y, 1, axis=1)))
    with_hole = headwater.score(model, "holes.csv", "--out", "a.npy", "--predict", "p.npy")
    without = headwater.score(smaller, "fewer.csv", "--out", "b.npy", "--predict", "q.npy")
    assert with_hole["log_likelihood"] == pytest.approx(without["log_likelihood"], rel=1e-13)
    assert_close(headwater.load("a.npy"), headwater.load("b.npy"))
    assert_close(np.delete(headwater.load("p.npy"), 1, axis=1), headwater.load("q.npy"))


def test_nan_in_an_npy_file_is_a_missing_cell(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    y = with_holes(stream())
    headwater.save("y.npy", y)
    headwater.write("y.csv", as_csv(y))
    headwater("score", model, "y.npy", "--out", "a.csv")
    headwater("score", model, "y.csv", "--out", "b.csv")
    assert headwater.path("a.csv").read_bytes() == headwater.path("b.csv").read_bytes()


def test_a_wholly_missing_observation_is_a_prediction_step(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    y = stream(10)
    y[5] = np.nan
    headwater.write("y.csv", as_csv(y))
    filtered, _, steps, predicted, totals = run_all(headwater, model, "y.csv")
    # Components are independent: P(on) = (1 - stay_off) P(off before) + stay_on P(on before).
    expected = (1 - STAY_OFF) * (1 - filtered[4]) + STAY_ON * filtered[4]
    assert_close(filtered[5], expected)
    assert_close(predicted[5], BASIS @ expected)
    assert steps[5, 0] == pytest.approx(0, abs=1e-14)
    assert totals["observations"] == 10


def test_filtering_does_not_look_ahead(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    y = stream(40)
    headwater.save("all.npy", y)
    headwater.save("half.npy", y[:20])
    headwater("apply", model, "all.npy", "--out", "x_all.npy")
    headwater("apply", model, "half.npy", "--out", "x_half.npy")
    np.testing.assert_array_equal(headwater.load("x_all.npy")[:20], headwater.load("x_half.npy"))


def test_smoothed_and_filtered_agree_at_the_end(headwater):
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    headwater.save("y.npy", stream(100))
    filtered, smoothed = run_all(headwater, model, "y.npy")[:2]
    assert_close(smoothed[-1], filtered[-1])
    assert np.abs(smoothed - filtered).max() > 1e-3
