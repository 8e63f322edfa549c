"""Streams drawn from a model. Seeds are fixed, and each bound states its false-alarm rate."""

import numpy as np
import pytest

from support import as_csv, read_csv, settings

LENGTH = 20000
SHAPE = ["--channels", 8, "--components", 3]
STATES = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 2.0]])
TRANSITION = np.array([[0.7, 0.1, 0.2], [0.3, 0.6, 0.1], [0.0, 0.5, 0.5]])

# A standard normal number exceeds 5.5 in absolute value once in 26 million.
FAR = 5.5


def draw(headwater, *arguments, prior="basis-selection", length=LENGTH, seed=40):
    """The counts, activations and basis of a stream."""
    headwater("simulate", "--prior", prior, *arguments, "--length", length, "--seed", seed,
              "--out", "y.npy", "--save-activations", "x.npy", "--save-basis", "b.npy")
    return [headwater.load(name) for name in ("y.npy", "x.npy", "b.npy")]


def excess(successes, trials, probability):
    """The deviation of a binomial number from its mean, in standard deviations."""
    return (successes - trials * probability) / np.sqrt(trials * probability * (1 - probability))


@pytest.mark.parametrize("kind", ["csv", "tsv", "npy"])
def test_the_same_seed_gives_the_same_bytes(headwater, kind):
    contents = []
    for seed, name in (5, "a"), (5, "b"), (6, "c"):
        headwater("simulate", "--prior", "basis-selection", *SHAPE, "--length", 100,
                  "--seed", seed, "--out", f"{name}.{kind}", "--save-basis", f"{name}_b.{kind}",
                  "--save-activations", f"{name}_x.{kind}")
        contents.append([headwater.path(f"{name}{part}.{kind}").read_bytes()
                         for part in ("", "_x", "_b")])
    assert contents[0] == contents[1]
    assert all(mine != other for mine, other in zip(contents[0], contents[2]))


def test_every_kind_of_file_holds_the_same_numbers(headwater):
    arguments = ["simulate", "--prior", "basis-selection", *SHAPE, "--length", 100, "--seed", 5]
    for kind in "csv", "tsv", "npy":
        headwater(*arguments, "--out", f"y.{kind}")
    np.testing.assert_array_equal(headwater.load("y.csv"), headwater.load("y.tsv"))
    np.testing.assert_array_equal(headwater.load("y.csv"), headwater.load("y.npy"))
    assert headwater(*arguments, "--out", "-") == headwater.path("y.csv").read_bytes()


def test_a_longer_stream_begins_like_a_shorter_one(headwater):
    short, long = draw(headwater, *SHAPE, length=50), draw(headwater, *SHAPE, length=80)
    np.testing.assert_array_equal(short[0], long[0][:50])
    np.testing.assert_array_equal(short[1], long[1][:50])


def test_the_parts_have_their_shapes(headwater):
    y, x, basis = draw(headwater, *SHAPE, length=70)
    assert (y.shape, x.shape, basis.shape) == ((70, 8), (70, 3), (8, 3))
    assert np.all(y >= 0) and np.all(y == np.round(y))
    assert set(np.unique(x)) <= {0, 1}
    assert np.all((basis > 0) & (basis < 10))


def test_a_basis_that_is_given_is_the_basis_that_is_used(headwater):
    given = np.array([[1.0, 0.0], [2.5, 3.0], [0.125, 7.0]])
    headwater.write("given.csv", as_csv(given))
    y, x, basis = draw(headwater, "--basis", "given.csv", length=60)
    np.testing.assert_array_equal(basis, given)
    assert (y.shape, x.shape) == ((60, 3), (60, 2))
    assert np.all(y[x[:, 0] == 0, 0] == 0)  # no intensity, no count


def test_counts_are_poisson_about_basis_times_activation(headwater):
    """16 standard normal numbers, all within 5.5: one false alarm in 1.6 million."""
    y, x, basis = draw(headwater, *SHAPE)
    rates = x @ basis.T
    assert np.all(y[rates == 0] == 0)
    mean_excess = (y - rates).sum(axis=0) / np.sqrt(rates.sum(axis=0))
    assert np.abs(mean_excess).max() < FAR
    on = rates > 0
    squares = np.where(on, (y - rates) ** 2 / np.where(on, rates, 1) - 1, 0)
    variances = np.where(on, 2 + 1 / np.where(on, rates, 1), 0)  # of the squared deviation
    square_excess = squares.sum(axis=0) / np.sqrt(variances.sum(axis=0))
    assert np.abs(square_excess).max() < FAR


@pytest.mark.parametrize("stay_off, stay_on", [(0.9, 0.7), ([0.9, 0.5, 0.2], [0.7, 0.3, 0.95])],
                         ids=["shared", "per component"])
def test_components_stay_as_often_as_asked(headwater, stay_off, stay_on):
    """6 standard normal numbers, all within 5.5: one false alarm in 4 million."""
    per_component = ["--per-component"] if np.ndim(stay_off) else []
    _, x, _ = draw(headwater, *SHAPE, *settings(stay_off=stay_off, stay_on=stay_on), *per_component)
    before, after = x[:-1], x[1:]
    off, on = (before == 0), (before == 1)
    off_excess = excess((off & (after == 0)).sum(axis=0), off.sum(axis=0), np.array(stay_off))
    on_excess = excess((on & (after == 1)).sum(axis=0), on.sum(axis=0), np.array(stay_on))
    assert np.abs(off_excess).max() < FAR and np.abs(on_excess).max() < FAR


def test_the_first_state_is_drawn_from_the_stationary_law(headwater):
    """400 components, each on with probability 0.25: one false alarm in 26 million."""
    _, x, _ = draw(headwater, "--channels", 1, "--components", 400,
                   *settings(stay_off=0.9, stay_on=0.7), length=1)
    assert abs(excess(x.sum(), 400, 0.25)) < FAR


@pytest.mark.parametrize("given", [
    ["--set", "states=states.csv", "--set", "transition=transition.csv"],
    ["--states", "states.csv", "--transition", "transition.csv"],
], ids=["by --set", "by name"])
def test_a_finite_prior_moves_as_its_files_say(headwater, given):
    """8 standard normal numbers, all within 5.5: one false alarm in 3 million."""
    headwater.write("states.csv", as_csv(STATES))
    headwater.write("transition.csv", as_csv(TRANSITION))
    _, x, _ = draw(headwater, "--channels", 4, "--components", 2, *given, prior="finite")
    visited = (x[:, None, :] == STATES).all(axis=2)
    assert np.all(visited.sum(axis=1) == 1)
    moves = visited[:-1].T.astype(float) @ visited[1:]
    trials = moves.sum(axis=1, keepdims=True) + np.zeros(3)
    possible = TRANSITION > 0
    assert np.all(moves[~possible] == 0)
    assert np.abs(excess(moves[possible], trials[possible], TRANSITION[possible])).max() < FAR


def test_both_ways_to_name_the_files_of_a_finite_prior_are_one(headwater):
    headwater.write("states.csv", as_csv(STATES))
    headwater.write("transition.csv", as_csv(TRANSITION))
    arguments = ["simulate", "--prior", "finite", "--channels", 4, "--components", 2,
                 "--length", 200, "--out", "-"]
    by_name = headwater(*arguments, "--states", "states.csv", "--transition", "transition.csv")
    by_set = headwater(*arguments, "--set", "states=states.csv",
                       "--set", "transition=transition.csv")
    assert by_name == by_set


def test_a_finite_prior_without_states_has_one_component_on(headwater):
    _, x, _ = draw(headwater, "--channels", 2, "--components", 4, prior="finite", length=300)
    assert np.all(x.sum(axis=1) == 1) and set(np.unique(x)) == {0, 1}


def test_a_finite_prior_is_learned(headwater):
    """With 5000 observations the standard error of a transition is below 0.02; 0.15 is more than
    seven standard errors, one false alarm in 1e11."""
    headwater.write("states.csv", as_csv(STATES))
    headwater.write("transition.csv", as_csv(TRANSITION))
    files = ["--states", "states.csv", "--transition", "transition.csv"]
    draw(headwater, "--channels", 6, "--components", 2, *files, prior="finite", length=5000)
    headwater("fit", "y.npy", "--components", 2, "--prior", "finite", *files, "--init", "b.npy",
              "--out", "model.h5")
    found = np.array(headwater.parameters("model.h5")["transition"])
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert np.abs(found - TRANSITION).max() < 0.15
    assert found[2, 0] == 0  # an impossible transition stays impossible


def test_per_component_parameters_are_lists_throughout(headwater):
    """The standard error of a probability is below 0.02 here; 0.15 is more than seven standard
    errors."""
    stay_off, stay_on = [0.95, 0.6], [0.5, 0.9]
    draw(headwater, "--channels", 6, "--components", 2,
         *settings(stay_off=stay_off, stay_on=stay_on), "--per-component", length=5000)
    headwater("fit", "y.npy", "--components", 2, "--prior", "basis-selection", "--per-component",
              "--init", "b.npy", "--out", "model.h5")
    parameters = headwater.parameters("model.h5")
    assert np.abs(np.array(parameters["stay_off"]) - stay_off).max() < 0.15
    assert np.abs(np.array(parameters["stay_on"]) - stay_on).max() < 0.15
    trace = headwater.trace("model.h5")
    assert trace["stay_off_2"][-1] == parameters["stay_off"][1]


def test_standard_output_can_feed_standard_input(headwater):
    counts = headwater("simulate", "--prior", "basis-selection", *SHAPE, "--length", 300,
                       "--seed", 8, "--out", "-")
    assert read_csv(counts).shape == (300, 8)
    headwater("fit", "-", "--components", 3, "--prior", "basis-selection", "--out", "model.h5",
              given=counts)
    assert headwater.facts("model.h5")["observations"] == 300
