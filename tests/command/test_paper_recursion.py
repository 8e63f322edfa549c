"""The paper's recursion, compared with an independent implementation of Algorithm 1."""

import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from paper_recursion import online_em
from support import held_model, largest_relative_difference, settings

STAY_OFF, STAY_ON = 0.8571, 0.6926  # as in the paper
NUM_CHANNELS = 8
LENGTH = 20000
AS_PRINTED = ["--engine", "exact", "--paper-exact"]
SCHEDULE = ["--step", "power:0.8", "--burn-in", 100, "--average", "none"]
HOLD_PRIOR = ["--hold", "stay_off", "--hold", "stay_on"]


def true_basis(num_components):
    return np.random.default_rng(1).uniform(0, 10, (NUM_CHANNELS, num_components))


def near(basis):
    return basis * np.exp(0.3 * np.random.default_rng(2).standard_normal(basis.shape))


def stream(num_components, length):
    chain = selection_chain(num_components, STAY_OFF, STAY_ON)
    return simulate(chain, true_basis(num_components), length, seed=3)


def fit(headwater, y, start, stay_off, stay_on, *arguments, schedule=SCHEDULE):
    headwater.save("counts.npy", y)
    headwater.save("start.npy", start)
    headwater("fit", "counts.npy", "--components", start.shape[1], "--prior", "basis-selection",
              *settings(stay_off=stay_off, stay_on=stay_on), "--init", "start.npy", *schedule,
              *arguments, "--out", "model.h5")
    return "model.h5"


def difference(headwater, model, expected):
    parameters = headwater.parameters(model)
    return max(largest_relative_difference(headwater.basis(model), expected.basis),
               largest_relative_difference(parameters["stay_off"], expected.stay_off),
               largest_relative_difference(parameters["stay_on"], expected.stay_on),
               largest_relative_difference(headwater.facts(model)["log_likelihood"],
                                           expected.log_likelihood))


def test_it_is_algorithm_1_with_the_prior_held(headwater):
    y, start = stream(3, LENGTH), near(true_basis(3))
    model = fit(headwater, y, start, STAY_OFF, STAY_ON, *AS_PRINTED, *HOLD_PRIOR)
    expected = online_em(y, start, STAY_OFF, STAY_ON)
    assert difference(headwater, model, expected) <= 1e-9


@pytest.mark.parametrize("num_components", [3, 5])
def test_it_is_algorithm_1_with_the_prior_learned(headwater, num_components):
    y, start = stream(num_components, LENGTH), near(true_basis(num_components))
    model = fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED)
    expected = online_em(y, start, 0.9, 0.6, learn_prior=True)
    assert difference(headwater, model, expected) <= 1e-9


@pytest.mark.parametrize("held, other", [("stay_off", "stay_on"), ("stay_on", "stay_off")])
def test_one_parameter_is_held_while_the_other_is_learned(headwater, held, other):
    y, start = stream(3, 2000), near(true_basis(3))
    parameters = headwater.parameters(
        fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED, "--hold", held))
    starts = {"stay_off": 0.9, "stay_on": 0.6}
    assert parameters[held] == starts[held]
    assert parameters[other] != starts[other]


def test_the_basis_is_held_while_the_prior_is_learned(headwater):
    y, start = stream(3, 2000), near(true_basis(3))
    model = fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED, "--hold", "basis")
    np.testing.assert_array_equal(headwater.basis(model), start)
    assert headwater.parameters(model)["stay_off"] != 0.9


def test_a_zero_in_the_basis_stays_zero_as_in_the_paper(headwater):
    basis = true_basis(3)
    basis[0, 0] = 0
    y = simulate(selection_chain(3, STAY_OFF, STAY_ON), basis, 2000, seed=4)
    start = near(basis)
    model = fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED)
    expected = online_em(y, start, 0.9, 0.6, learn_prior=True)
    found = headwater.basis(model)
    assert found[0, 0] == 0
    np.testing.assert_allclose(found, expected.basis, rtol=1e-9)


@pytest.mark.parametrize("length, moved", [(99, False), (100, True)])
def test_the_first_m_step_follows_the_last_observation_of_the_burn_in(headwater, length, moved):
    y, start = stream(3, length), near(true_basis(3))
    model = fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED)
    assert (headwater.basis(model) != start).all() == moved
    assert (headwater.basis(model) == start).all() != moved
    assert (headwater.parameters(model) != {"stay_off": 0.9, "stay_on": 0.6}) == moved


@pytest.mark.parametrize("reading", [{"recomputes_counts": False},
                                     {"normalises_by_previous": False},
                                     {"burn_in": 101}, {"burn_in": 99}],
                         ids=["counts enter at once", "s3 as printed", "burn-in 101", "burn-in 99"])
def test_another_reading_of_the_paper_would_be_noticed(headwater, reading):
    y, start = stream(3, 1000), near(true_basis(3))
    model = fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED)
    same = online_em(y, start, 0.9, 0.6, learn_prior=True)
    other = online_em(y, start, 0.9, 0.6, learn_prior=True, **reading)
    assert difference(headwater, model, same) <= 1e-10
    assert difference(headwater, model, other) > 1e-6


@pytest.mark.parametrize("learned", [False, True], ids=["prior held", "prior learned"])
def test_smoother_forward_takes_each_count_in_once(headwater, learned):
    """The weak priors are active: they have the weight of 1e-6 observations per entry and
    transition."""
    y, start = stream(3, 5000), near(true_basis(3))
    model = fit(headwater, y, start, 0.9, 0.6, "--engine", "exact", "--smoother", "forward",
                *([] if learned else HOLD_PRIOR))
    expected = online_em(y, start, 0.9, 0.6, learn_prior=learned, recomputes_counts=False)
    assert difference(headwater, model, expected) <= 1e-6


def test_a_channel_that_is_never_seen_changes_nothing_in_the_others(headwater):
    y, start = stream(3, 1000), near(true_basis(3))
    without = np.delete(y, 2, axis=1)
    y[:, 2] = np.nan
    alone = headwater.basis(fit(headwater, without, np.delete(start, 2, axis=0), 0.9, 0.6,
                                *AS_PRINTED))
    beside = headwater.basis(fit(headwater, y, start, 0.9, 0.6, *AS_PRINTED))
    np.testing.assert_allclose(np.delete(beside, 2, axis=0), alone, rtol=1e-11)
    np.testing.assert_array_equal(beside[2], start[2])


@pytest.mark.parametrize("average", ["none", "polyak"])
def test_what_is_held_stays_to_the_last_bit(headwater, average):
    y, start = stream(3, 3000), near(true_basis(3))
    model = fit(headwater, y, start, STAY_OFF, STAY_ON, *HOLD_PRIOR, "--hold", "basis",
                schedule=["--average", average])
    np.testing.assert_array_equal(headwater.basis(model), start)
    assert headwater.parameters(model) == {"stay_off": STAY_OFF, "stay_on": STAY_ON}


def test_online_em_ends_near_the_truth(headwater):
    """The standard error of an entry is below 0.05 at this length, so an error of 0.5 has a
    probability below 1e-20. The maximum of the log-likelihood exceeds its value at the truth by
    half a chi-square variable with 26 degrees of freedom. Online EM may lose 2 of this; the
    probability that the excess is below 2 is 2e-7."""
    y, start = stream(3, LENGTH), near(true_basis(3))
    model = fit(headwater, y, start, 0.9, 0.6, schedule=[])
    assert np.abs(headwater.basis(model) - true_basis(3)).max() < 0.5
    truth = held_model(headwater, "truth.h5", true_basis(3), STAY_OFF, STAY_ON)
    gain = (headwater.score(model, "counts.npy")["log_likelihood"]
            - headwater.score(truth, "counts.npy")["log_likelihood"])
    assert gain > 0
