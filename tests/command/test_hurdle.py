"""Counts that are mostly 0 or 1: --counts hurdle and drifting-hurdle, from simulation to alarms,
against plain formulas."""

import csv
import io
import json
import math

import numpy as np
import pytest

from hidden_markov import selection_chain
from support import as_csv, assert_close, held_model, settings

STAYS = dict(stay_off=0.85, stay_on=0.7)
CHAIN = selection_chain(2, **STAYS)
BASIS = np.array([[1.2, 0.1], [0.2, 0.9], [0.7, 0.6], [0.1, 1.5]])
EXCESS = [0.2, 0.001, 0.05, 1.5]
LEVELS = dict(dispersion=[0.4, 2, 1.5, 0.02], level_persistence=0.9)
HURDLE = ["--counts", "hurdle", *settings(excess=EXCESS)]
DRIFTING = ["--counts", "drifting-hurdle", *settings(excess=EXCESS, **LEVELS)]
BOTH = pytest.mark.parametrize("law", [HURDLE, DRIFTING], ids=["hurdle", "drifting-hurdle"])


def simulate(headwater, name, length, *law, seed=1, prior="basis-selection", basis=BASIS):
    headwater.save("basis.npy", basis)
    stays = settings(**STAYS) if prior == "basis-selection" else []
    headwater("simulate", "--prior", prior, *stays, "--basis", "basis.npy", "--length", length,
              "--seed", seed, *law, "--out", name)
    return name


def held(headwater, law):
    names = ["excess", *(LEVELS if law is DRIFTING else [])]
    return held_model(headwater, "model.h5", BASIS, **STAYS,
                      law=[*law, *(word for name in names for word in ("--hold", name))])


def silences(means, dispersion):
    """P(0); the dispersion has one number a channel, the first axis of the means."""
    phi = np.reshape(dispersion, (-1,) + (1,) * (np.ndim(means) - 1))
    return np.where(phi > 0, (1 + phi * means)**(-1 / np.where(phi > 0, phi, 1)), np.exp(-means))


def run_filter(y, drifts):
    """log p(y_t | y_1..t-1) and the predicted means; levels are carried once beside the states."""
    law, excess = CHAIN.initial.copy(), np.array(EXCESS)
    phi = np.array(LEVELS["dispersion"]) if drifts else np.zeros(4)
    persistence = LEVELS["level_persistence"]
    mean, variance = np.ones(4), phi.copy()
    scores, predicted = [], []
    for t, row in enumerate(y):
        if t > 0:
            law = law @ CHAIN.transition
            variance = (phi * (1 - persistence)**2 + 2 * phi * persistence * (1 - persistence) * mean +
                        persistence**2 * variance)
            mean = 1 + persistence * (mean - 1)
        intensities = BASIS @ CHAIN.states.T  # channels x states
        silent = silences(mean[:, None] * intensities, variance / mean**2)
        predicted.append((1 + excess) * ((1 - silent) @ law))
        positive = ((1 - silent) * (1 / (1 + excess))[:, None] *
                    ((excess / (1 + excess))**np.maximum(np.nan_to_num(row) - 1, 0))[:, None])
        cells = np.where((row > 0)[:, None], positive, silent)
        joint = law * np.prod(cells[~np.isnan(row)], axis=0)
        scores.append(math.log(joint.sum()))
        law = joint / joint.sum()
        if drifts:
            mean, variance = updated_levels(row, mean, variance, BASIS @ (law @ CHAIN.states))
    return np.array(scores), np.array(predicted)


def updated_levels(row, mean, variance, intensity):
    """Gamma levels Gamma(a, b): a zero makes Gamma(a, b + intensity); otherwise what is left of
    the moments, of which a gamma law has the first two."""
    a, b = mean**2 / variance, mean / variance
    silent = (b / (b + intensity))**a
    first = a / b, a / (b + intensity)
    second = a * (a + 1) / b**2, a * (a + 1) / (b + intensity)**2
    seen = np.where(np.isnan(row), 0, np.where(row > 0, 2, 1))
    means = np.choose(seen, (mean, first[1], (first[0] - silent * first[1]) / (1 - silent)))
    squares = np.choose(seen, (variance + mean**2, second[1],
                               (second[0] - silent * second[1]) / (1 - silent)))
    return means, squares - means**2


# --- simulate ---------------------------------------------------------------------------------------


@BOTH
def test_simulated_counts_have_the_probabilities_of_the_law(headwater, law):
    """Of a state that never changes, with levels that are drawn anew: P(0) and P(2 or more) of four
    channels. Eight comparisons at 5.5 standard errors: one false alarm in three million."""
    length = 40000
    for name, matrix in ("states", [[1.0, 1.0]]), ("transition", [[1.0]]), ("basis", BASIS):
        headwater.save(f"{name}.npy", matrix)
    at_once = ["--set", "level_persistence=0"] if law is DRIFTING else []
    headwater("simulate", "--prior", "finite", "--states", "states.npy", "--transition",
              "transition.npy", "--basis", "basis.npy", "--length", length, *law, *at_once, "--out",
              "y.npy")
    y, excess = headwater.load("y.npy"), np.array(EXCESS)
    silent = silences(BASIS.sum(axis=1), LEVELS["dispersion"] if law is DRIFTING else np.zeros(4))
    for found, p in (y == 0, silent), (y >= 2, (1 - silent) * excess / (1 + excess)):
        error = np.sqrt(p * (1 - p) / length)
        assert np.all(np.abs(found.mean(axis=0) - p) < 5.5 * error)


# --- score, forecast, surprise ----------------------------------------------------------------------


@BOTH
def test_scores_and_predictions_are_those_of_the_plain_formulas(headwater, law):
    y = np.loadtxt(headwater.path(simulate(headwater, "y.csv", 60, *law)), delimiter=",")
    y[3, 1] = y[10] = np.nan
    headwater.write("y.csv", as_csv(y))
    headwater("score", held(headwater, law), "y.csv", "--out", "scores.npy", "--predict",
              "predicted.npy")
    scores, predicted = run_filter(y, law is DRIFTING)
    assert_close(headwater.load("scores.npy").ravel(), scores, 1e-9)
    assert_close(headwater.load("predicted.npy"), predicted, 1e-9)


@BOTH
def test_particles_score_as_the_exact_engine(headwater, law):
    """20,000 particles: the log-likelihood of 60 observations is known to some .1."""
    simulate(headwater, "y.csv", 60, *law)
    held(headwater, law)
    exact = headwater.score("model.h5", "y.csv")["log_likelihood"]
    found = headwater.score("model.h5", "y.csv", "--engine", "particle", "--particles",
                            20000)["log_likelihood"]
    assert abs(found - exact) < 0.5


@BOTH
def test_forecasts_are_of_counts_and_not_of_intensities(headwater, law):
    """Far ahead nothing is known of states and levels: the mean of a channel is that of the
    stationary law. Quantiles of 4,000 draws: those of zeros and ones are 0 or 1."""
    simulate(headwater, "y.csv", 30, *law)
    headwater("forecast", held(headwater, law), "y.csv", "--horizon", 300, "--quantiles", "0.01,0.5",
              "--out", "f.csv")
    rows = list(csv.DictReader(io.StringIO(headwater.path("f.csv").read_text())))[-4:]
    phi = LEVELS["dispersion"] if law is DRIFTING else np.zeros(4)
    silent = silences(BASIS @ CHAIN.states.T, phi) @ CHAIN.initial
    means = (1 - silent) * (1 + np.array(EXCESS))
    assert_close(np.array([float(row["mean"]) for row in rows]), means, 1e-6)
    assert [float(row["q0.01"]) for row in rows] == [0, 0, 0, 0]
    assert float(rows[1]["q0.5"]) in (0, 1)


@BOTH
def test_surprises_are_uniform(headwater, law):
    """By Kolmogorov's test: a distance of n uniform numbers exceeds sqrt(log(2 / a) / 2 n) with a
    probability of a at most, here one in a million."""
    length = 2000
    simulate(headwater, "y.csv", length, *law)
    headwater("score", held(headwater, law), "y.csv", "--surprise", "--out", "scores.npy")
    p = np.sort(headwater.load("scores.npy")[:, 1])
    steps = np.arange(1, length + 1) / length
    limit = math.sqrt(math.log(2e6) / (2 * length))
    assert max((steps - p).max(), (p - steps + 1 / length).max()) < limit


# --- fit --------------------------------------------------------------------------------------------


def chosen(headwater, data, *arguments, prior="basis-selection"):
    headwater("fit", data, "--components", 2, "--prior", prior, *arguments, "--out", "model.h5")
    return headwater.facts("model.h5")["counts"]


def test_auto_finds_zeros_and_ones(headwater):
    simulate(headwater, "y.csv", 1000, "--counts", "hurdle", *settings(excess=0), basis=2 * BASIS)
    counts = chosen(headwater, "y.csv")
    assert counts["law"] == "hurdle"
    assert len(counts["excess"]) == 4 and 0 < max(counts["excess"]) < 0.01


def test_auto_finds_zeros_and_ones_whose_levels_drift(headwater):
    basis = np.vstack([BASIS, BASIS[::-1], 0.5 * BASIS])
    simulate(headwater, "y.csv", 800, "--counts", "drifting-hurdle",
             *settings(excess=0, dispersion=3, level_persistence=0.95), basis=basis)
    counts = chosen(headwater, "y.csv")
    assert counts["law"] == "drifting-hurdle"
    assert 0.8 < counts["persistence"] < 1 and max(counts["excess"]) < 0.01


@BOTH
def test_what_is_held_stays(headwater, law):
    simulate(headwater, "y.csv", 200, *law)
    names = ["excess", *(LEVELS if law is DRIFTING else [])]
    counts = chosen(headwater, "y.csv", *law,
                    *(word for name in names for word in ("--hold", name)))
    assert counts["excess"] == EXCESS
    assert law is HURDLE or counts["dispersion"] == LEVELS["dispersion"]


@pytest.mark.parametrize("law, extra", [
    (HURDLE, []), (DRIFTING, []),
    (DRIFTING, ["--dispersion", "shared"]), (DRIFTING, ["--engine", "particle", "--particles", 50]),
    (DRIFTING, ["--engine", "fast", "--prior", "gamma"]), (DRIFTING, ["--period", 12]),
], ids=["hurdle", "drifting", "shared", "particles", "fast", "season"])
def test_a_resumed_fit_gives_the_same_bytes(headwater, law, extra):
    simulate(headwater, "y.csv", 250, *law)
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    headwater.write("first.csv", "".join(lines[:200]))
    words = ["--components", 2, "--prior", "basis-selection", *law[:2], "--start-on", 100, *extra,
             "--quiet"]
    headwater("fit", "y.csv", *words, "--out", "whole.h5")
    headwater("fit", "first.csv", *words, "--checkpoint", "state", "--out", "first.h5")
    headwater("fit", "y.csv", *words, "--resume", "state", "--out", "resumed.h5")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


@pytest.mark.parametrize("arguments, reason", [
    (["--counts", "hurdle", "--set", "excess=-1"],
     "excess is -1; expected a number from 0 to 1e+06"),
    (["--counts", "hurdle", "--set", "dispersion=1"],
     "the law 'hurdle' has no parameter 'dispersion'"),
], ids=["negative excess", "dispersion"])
def test_what_makes_no_sense_is_refused(headwater, arguments, reason):
    done = headwater.attempt("simulate", "--prior", "basis-selection", "--channels", 2,
                             "--components", 2, "--length", 3, *arguments, "--out", "y.csv")
    assert done.returncode == 2
    assert done.stderr.decode() == f"headwater: {reason}\n"


def test_alarms_name_a_channel_that_counts_where_it_should_not(headwater):
    """A channel that is 0 or 1 has counts of 6 in three rows; its expectation is that of a count."""
    y = np.loadtxt(headwater.path(simulate(headwater, "y.csv", 600, *HURDLE)), delimiter=",")
    y[550:553, 1] = 6
    headwater.write("y.csv", as_csv(y))
    lines = headwater("watch", held(headwater, HURDLE), "y.csv", "--alarms-per", "500:1").decode()
    alarms = [json.loads(line) for line in lines.splitlines()]
    found = [alarm for alarm in alarms if 551 <= alarm["t"] <= 553]
    assert found
    worst = found[0]["channels"][0]
    assert worst["seen"] == 6 and worst["expected"] < 1.001
