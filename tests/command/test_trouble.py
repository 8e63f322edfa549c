"""Unusual streams, for which the estimates must stay finite and plausible."""

import numpy as np
import pytest

from support import as_csv, held_model

METHODS = {
    "online": [],
    "forward": ["--smoother", "forward"],
    "printed": ["--paper-exact"],
    "batch": ["--method", "batch", "--iterations", 100, "--tolerance", 0],
}
every_method = pytest.mark.parametrize("method", list(METHODS))


def fit(headwater, y, num_components, *arguments):
    headwater.save("counts.npy", y)
    headwater("fit", "counts.npy", "--components", num_components, "--prior", "basis-selection",
              *arguments, "--out", "model.h5")
    return "model.h5"


def constant_stream(rate, seed):
    """A stream of one source that is always on."""
    return np.random.default_rng(seed).poisson(rate, (200, 4)).astype(float)


@every_method
@pytest.mark.parametrize("rate, seed", [(10, 1), (30, 0), (100, 0), (100, 2)])
def test_components_that_nothing_needs_do_not_run_away(headwater, method, rate, seed):
    y = constant_stream(rate, seed)
    model = fit(headwater, y, 3, "--seed", seed, *METHODS[method])
    for basis in headwater.basis(model), headwater.basis(model, "--last"):
        assert np.all(np.isfinite(basis))
        assert basis.max() < 10 * y.max()
    # A single Poisson rate per channel gives about -log(2 pi e rate) / 2 per cell, above -4.
    assert headwater.score(model, "counts.npy")["per_observation"] > -40


@pytest.mark.parametrize("rate, seed", [(10, 1), (30, 0), (100, 0), (100, 2)])
def test_batch_em_climbs_with_more_components_than_sources(headwater, rate, seed):
    model = fit(headwater, constant_stream(rate, seed), 3, "--seed", seed, *METHODS["batch"])
    values = headwater.trace(model)["log_likelihood"]
    assert np.all(np.diff(values) >= -1e-10 * np.abs(values[1:]))


@every_method
def test_a_stream_of_zeros_is_learned(headwater, method):
    model = fit(headwater, np.zeros((300, 3)), 2, *METHODS[method])
    basis = headwater.basis(model)
    assert np.all(np.isfinite(basis)) and np.all(basis >= 0)
    assert headwater.score(model, "counts.npy")["per_observation"] > -0.1


@every_method
def test_a_channel_without_counts_gets_hardly_any_intensity(headwater, method):
    y = constant_stream(10, 3)
    y[:, 1] = 0
    basis = headwater.basis(fit(headwater, y, 1, *METHODS[method]))
    assert np.all(np.isfinite(basis)) and np.all(basis >= 0)
    assert basis[1].max() < 0.1


@every_method
def test_a_single_observation_is_enough_for_a_model(headwater, method):
    model = fit(headwater, [[3.0, 0.0]], 2, *METHODS[method])
    assert np.all(np.isfinite(headwater.basis(model)))
    assert headwater.facts(model)["observations"] == 1


@every_method
def test_nothing_but_missing_cells_teaches_nothing(headwater, method):
    headwater.save("start.npy", [[1.0, 2.0], [3.0, 4.0]])
    model = fit(headwater, np.full((150, 2), np.nan), 2, "--init", "start.npy",
                "--hold", "stay_off", "--hold", "stay_on", "--average", "none", *METHODS[method])
    np.testing.assert_array_equal(headwater.basis(model), [[1, 2], [3, 4]])
    assert headwater.facts(model)["log_likelihood"] == pytest.approx(0, abs=1e-12)


@every_method
def test_real_values_are_taken_as_they_are(headwater, method):
    y = constant_stream(10, 4) + 0.5
    model = fit(headwater, y, 1, *METHODS[method])
    assert np.all(np.isfinite(headwater.basis(model)))
    assert np.isfinite(headwater.facts(model)["log_likelihood"])


def test_a_count_without_intensity_is_impossible_and_passed_over(headwater):
    model = held_model(headwater, "model.h5", np.array([[5.0], [0.0]]), 0.9, 0.7)
    headwater.write("y.csv", as_csv([[4, 0], [4, 1], [4, 0]]))
    headwater.write("gap.csv", as_csv([[4, 0], [np.nan, np.nan], [4, 0]]))
    scored = headwater.score(model, "y.csv", "--out", "steps.csv")
    headwater.score(model, "gap.csv", "--out", "gap_steps.csv")
    assert scored["impossible_observations"] == 1
    steps, gap_steps = headwater.load("steps.csv"), headwater.load("gap_steps.csv")
    assert steps[1, 0] == -np.inf
    np.testing.assert_array_equal(steps[[0, 2]], gap_steps[[0, 2]])
    headwater("apply", model, "y.csv", "--out", "x.csv")
    headwater("apply", model, "gap.csv", "--out", "gap_x.csv")
    np.testing.assert_array_equal(headwater.load("x.csv"), headwater.load("gap_x.csv"))


def test_an_impossible_count_is_not_nan_in_a_fit(headwater):
    headwater.save("start.npy", [[5.0], [0.0]])
    y = np.tile([4.0, 0.0], (150, 1))
    y[70, 1] = 1
    model = fit(headwater, y, 1, "--init", "start.npy", "--hold", "basis")
    facts = headwater.facts(model)
    assert facts["impossible_observations"] == 1
    assert 0 < facts["prior"]["parameters"]["stay_off"] < 1


def test_a_chain_that_never_moves_can_be_written_and_read(headwater):
    """Without weak priors, a component that is always on ends with stay_on near 1, and one that is
    never on with stay_off near 1."""
    headwater.save("start.npy", [[100.0, 900.0]])
    model = fit(headwater, np.full((300, 1), 100.0), 2, "--init", "start.npy", "--paper-exact")
    parameters = headwater.parameters(model)
    assert 0.99 < parameters["stay_off"] < 1 and 0.99 < parameters["stay_on"] < 1
    assert headwater.score(model, "counts.npy")["per_observation"] > -10


def test_a_background_makes_every_count_possible(headwater):
    headwater.save("start.npy", [[5.0, 0.1], [0.0, 0.1]])
    y = np.tile([4.0, 0.0], (150, 1))
    y[70, 1] = 1
    model = fit(headwater, y, 1, "--init", "start.npy", "--hold", "basis", "--background")
    facts = headwater.facts(model)
    assert facts["impossible_observations"] == 0
    assert np.isfinite(facts["log_likelihood"])


@pytest.mark.parametrize("count", [1e4, 1e8])
def test_large_counts_do_not_overflow(headwater, count):
    model = held_model(headwater, "model.h5", np.array([[count], [1.0]]), 0.9, 0.7)
    headwater.write("y.csv", as_csv([[count, 1], [0, 0], [count, 2]]))
    headwater.score(model, "y.csv", "--out", "steps.csv")
    headwater("apply", model, "y.csv", "--out", "x.csv")
    assert np.all(np.isfinite(headwater.load("steps.csv")))
    np.testing.assert_allclose(headwater.load("x.csv")[:, 0], [1, 0, 1], atol=1e-12)
