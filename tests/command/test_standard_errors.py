"""Standard errors: how sure a fit is of its estimate."""

import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import as_csv, read_csv

BASIS = np.array([[8, 1], [2, 7], [6, 3], [1, 9.0]])
LENGTH = 3000
FIT = "fit", "y.csv", "--components", 2, "--prior", "basis-selection", "--counts", "poisson"


@pytest.fixture
def data(headwater):
    y = simulate(selection_chain(2, 0.8, 0.7), BASIS, LENGTH, 3)
    headwater.write("part.csv", as_csv(y[:1500]))
    return headwater.write("y.csv", as_csv(y))


def errors_of(headwater, model):
    return headwater.basis(model, "--standard-errors")


def test_the_estimate_is_the_same_and_the_errors_are_of_the_right_size(headwater, data):
    headwater(*FIT, "--out", "plain.h5")
    headwater(*FIT, "--standard-errors", "--out", "model.h5")
    assert headwater("show", "plain.h5", "--basis") == headwater("show", "model.h5", "--basis")
    errors = errors_of(headwater, "model.h5")
    assert errors.shape == BASIS.shape
    # If it were known which component gave a count, and when it was on, the error of an entry would
    # be sqrt(B / (T P(on))). Nobody knows, and so it is larger; with activations that are easily
    # seen, not by much.
    known = np.sqrt(BASIS / (LENGTH * 0.4))
    order = np.argmax(headwater.basis("model.h5"), axis=0)
    columns = [list(order).index(k) if k in order else i for i, k in enumerate((0, 3))]
    ratio = errors[:, columns] / known
    assert ratio.min() > 0.9 and ratio.max() < 4
    facts = headwater.facts("model.h5")["standard_errors"]
    assert facts["information"] == "full"
    assert np.array(facts["basis"]) == pytest.approx(errors, rel=1e-15)
    assert set(facts["parameters"]) == {"stay_off", "stay_on"}
    # A Bernoulli variable with as many trials as there are moves out of the state, at least. A
    # standard error is itself an estimate: over streams 3 to 7 of this kind, the ten of them have a
    # standard deviation of .1 of that. Five of these are below it in fewer than one stream in a
    # million.
    for name, stay, part in ("stay_off", 0.8, 0.6), ("stay_on", 0.7, 0.4):
        least = np.sqrt(stay * (1 - stay) / (2 * LENGTH * part))
        assert 0.5 * least < facts["parameters"][name] < 3 * least
    assert b"standard errors (computed jointly)" in headwater("show", "model.h5")


def test_a_resumed_fit_has_the_same_bytes(headwater, data):
    headwater(*FIT, "--standard-errors", "--out", "whole.h5")
    headwater("fit", "part.csv", *FIT[2:], "--standard-errors", "--checkpoint", "state",
              "--checkpoint-every", 500, "--out", "part.h5")
    headwater(*FIT, "--standard-errors", "--resume", "state", "--out", "resumed.h5")
    assert headwater.path("whole.h5").read_bytes() == headwater.path("resumed.h5").read_bytes()


@pytest.mark.parametrize("options", [
    ("--method", "batch", "--iterations", "30"),
    ("--engine", "particle", "--particles", "50"),
    ("--engine", "beam"),
    ("--smoother", "forward"),
    ("--average", "none"),
    ("--background",),
    ("--counts", "negative-binomial"),
    ("--counts", "drifting"),
    ("--period", "7"),
    ("--paper-exact",),
], ids=" ".join)
def test_every_way_of_fitting_has_them(headwater, data, options):
    fit = FIT[:-2] if "--counts" in options else FIT
    headwater(*fit, *options, "--start-on", 300, "--standard-errors", "--out", "model.h5")
    errors = errors_of(headwater, "model.h5")
    assert errors.shape == BASIS.shape
    assert np.isfinite(errors).all() and (errors > 0).all()
    assert headwater.facts("model.h5")["standard_errors"]["parameters"]["stay_on"] > 0


@pytest.mark.parametrize("prior, engine, names", [
    ("gamma", "fast", {"shape", "persistence"}),
    ("log-gaussian", "fast", {"persistence", "noise"}),
    ("relaxed-selection", "particle", {"alpha"}),
    ("independent", "particle", {"shape"}),
])
def test_every_prior_has_them(headwater, prior, engine, names):
    headwater("simulate", "--prior", prior, "--channels", 5, "--components", 2, "--length", 1500,
              "--seed", 4, "--out", "y.csv")
    headwater("fit", "y.csv", "--components", 2, "--prior", prior, "--engine", engine,
              "--particles", 50, "--counts", "poisson", "--init", "random", "--standard-errors",
              "--out", "model.h5")
    facts = headwater.facts("model.h5")["standard_errors"]
    assert set(facts["parameters"]) == names
    assert all(value > 0 for value in facts["parameters"].values())


def test_what_is_held_has_none(headwater, data):
    headwater(*FIT, "--hold", "stay_on", "--standard-errors", "--out", "model.h5")
    facts = headwater.facts("model.h5")["standard_errors"]
    assert set(facts["parameters"]) == {"stay_off"}


def test_overdispersed_counts_of_a_poisson_model(headwater):
    """The plain form believes the model; the other one sees how much the counts scatter."""
    chain = selection_chain(2, 0.8, 0.7)
    rng = np.random.default_rng(8)
    level = rng.gamma(2, 0.5, (LENGTH, 4))
    y = rng.poisson(level * simulate(chain, 100 * BASIS, LENGTH, 3) / 100)
    headwater.write("y.csv", as_csv(y))
    headwater.write("start.csv", as_csv(BASIS))
    headwater(*FIT, "--init", "start.csv", "--hold", "stay_on", "--hold", "stay_off", "--set",
              "stay_on=0.7", "--set", "stay_off=0.8", "--standard-errors", "--out", "model.h5")
    facts = headwater.facts("model.h5")["standard_errors"]
    ratio = np.array(facts["basis"]) / np.array(facts["plain"]["basis"])
    assert np.median(ratio) > 1.3


def test_a_model_without_them(headwater, data):
    headwater(*FIT, "--out", "model.h5")
    refused = headwater.attempt("show", "model.h5", "--basis", "--standard-errors")
    assert refused.returncode == 1
    assert refused.stderr.decode() == (
        "headwater: model.h5: has no standard errors; expected a model of fit --standard-errors "
        "and a stream that is long enough\n")
    assert "standard_errors" not in headwater.facts("model.h5")


def test_a_stream_that_is_too_short(headwater):
    headwater.write("y.csv", as_csv(simulate(selection_chain(2, 0.8, 0.7), BASIS, 60, 3)))
    headwater(*FIT, "--standard-errors", "--out", "model.h5")
    assert "standard_errors" not in headwater.facts("model.h5")


PROFILE = np.array([[1.7, 1.2, 0.7, 0.4], [0.5, 0.8, 1.1, 1.6]])


def test_profiles_of_a_season_have_them_too(headwater):
    headwater.write("profile.csv", as_csv(PROFILE))
    headwater.write("basis.csv", as_csv(BASIS))
    headwater("simulate", "--prior", "basis-selection", "--set", "stay_off=0.8", "--set",
              "stay_on=0.7", "--channels", 4, "--components", 2, "--basis", "basis.csv",
              "--period", 4, "--profile", "profile.csv", "--length", LENGTH, "--seed", 4, "--out",
              "y.csv")
    fit = *FIT, "--period", 4, "--hold", "channel_profile"
    headwater(*fit, "--out", "plain.h5")
    headwater(*fit, "--standard-errors", "--out", "model.h5")
    gains = read_csv(headwater("show", "model.h5", "--profile"))
    assert (gains == read_csv(headwater("show", "plain.h5", "--profile"))).all()
    errors = read_csv(headwater("show", "model.h5", "--profile", "--standard-errors"))
    assert errors.shape == PROFILE.shape
    # If it were known which component gave a count, a gain would have the error sqrt(g / n) with n
    # counts expected of it. Nobody knows, and later visits weigh more, so it is larger.
    facts = headwater.facts("model.h5")
    order = [0, 1] if gains[0, 0] > gains[1, 0] else [1, 0]
    counts = BASIS.sum(axis=0) * 0.4 * LENGTH / 4
    known = np.sqrt(PROFILE / counts[:, None])
    ratio = errors[order] / known
    assert ratio.min() > 0.7 and ratio.max() < 3
    # The truth: 6 standard errors are exceeded by one of 8 with a probability of 2e-8.
    assert (np.abs(gains[order] - PROFILE) < 6 * errors[order]).all()
    (robust,), (plain,) = (facts["standard_errors"]["profiles"],
                           facts["standard_errors"]["plain"]["profiles"])
    assert np.array(robust) == pytest.approx(errors, rel=1e-15)
    assert np.array(plain) == pytest.approx(errors, rel=0.5)
    assert b"the median of the gains of period 4" in headwater("show", "model.h5")

    headwater(*fit, "--hold", "profile", "--standard-errors", "--out", "held.h5")
    done = headwater.attempt("show", "held.h5", "--profile", "--standard-errors")
    assert done.returncode == 1
    assert b"no standard errors of its profiles" in done.stderr


def test_a_resumed_fit_with_a_season_has_the_same_bytes(headwater, data):
    with_season = *FIT[2:], "--period", 5, "--standard-errors"
    headwater("fit", "y.csv", *with_season, "--out", "whole.h5")
    headwater("fit", "part.csv", *with_season, "--checkpoint", "state", "--checkpoint-every", 500,
              "--out", "part.h5")
    headwater("fit", "y.csv", *with_season, "--resume", "state", "--out", "resumed.h5")
    assert headwater.path("whole.h5").read_bytes() == headwater.path("resumed.h5").read_bytes()
