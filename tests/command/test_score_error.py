"""The standard error of scores by particles."""

import json

import numpy as np
import pytest

from support import settings

GAMMA = dict(shape=2, persistence=0.8)


@pytest.fixture
def model(headwater):
    headwater("simulate", "--prior", "gamma", *settings(**GAMMA), "--channels", 40, "--components",
              3, "--length", 300, "--seed", 5, "--out", "y.npy", "--save-basis", "basis.npy")
    headwater("fit", "y.npy", "--components", 3, "--prior", "gamma", "--counts", "poisson",
              *settings(**GAMMA), "--init", "basis.npy", "--hold", "basis", "--hold", "shape",
              "--hold", "persistence", "--out", "model.h5", "--quiet", "--engine", "fast")
    return "model.h5"


def score(headwater, *arguments):
    return json.loads(headwater("score", "model.h5", "y.npy", "--json", "--quiet", "--engine",
                                "particle", *arguments))


def test_scores_of_five_seeds_are_as_far_apart_as_it_says(headwater, model):
    """The sum of squared deviations over the mean squared error is chi-square of 4 degrees, as far
    as the error is known: above 66 with probability 2e-13, above 33 with 1e-6; the factor 2 is for
    the spread of the error itself."""
    scores = [score(headwater, "--particles", 100, "--seed", seed) for seed in range(1, 6)]
    values = np.array([found["log_likelihood"] for found in scores])
    errors = np.array([found["standard_error"] for found in scores])
    assert (errors > 0).all()
    assert ((values - values.mean()) ** 2).sum() / (errors ** 2).mean() < 66
    assert np.ptp(values) > 0


def test_more_particles_until_the_error_is_small(headwater, model):
    coarse = score(headwater, "--particles", 50)
    wish = coarse["standard_error"] / 3
    assert score(headwater, "--particles", 50, "--score-error", wish)["standard_error"] <= wish
    done = headwater.attempt("score", "model.h5", "y.npy", "--engine", "particle", "--particles",
                             50, "--score-error", wish)
    assert "50 particles: standard error" in done.stderr.decode()
    assert "standard error" in done.stdout.decode()


def test_a_pipe_is_read_once(headwater, model):
    np.savetxt(headwater.path("y.csv"), headwater.load("y.npy"), fmt="%g", delimiter=",")
    done = headwater.attempt("score", "model.h5", "-", "--engine", "particle", "--particles", 50,
                             "--score-error", 1e-3, given=headwater.path("y.csv").read_bytes())
    assert done.returncode == 0
    assert "has a standard error of" in done.stderr.decode()
    assert "more --particles make it smaller" in done.stderr.decode()


def test_other_engines_have_none(headwater, model):
    found = json.loads(headwater("score", "model.h5", "y.npy", "--json", "--engine", "fast"))
    assert "standard_error" not in found


@pytest.mark.parametrize("value", ["-1", "little"])
def test_an_error_that_is_none(headwater, model, value):
    done = headwater.attempt("score", "model.h5", "y.npy", "--score-error", value)
    assert done.returncode == 2 and "score-error" in done.stderr.decode()
