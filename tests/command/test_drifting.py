"""Channels whose levels drift: --counts drifting, from simulation to scores, against plain
formulas."""

import json
import math

import numpy as np
import pytest

import negative_binomial
from hidden_markov import selection_chain
from support import as_csv, assert_close, held_model, settings

STAYS = dict(stay_off=0.85, stay_on=0.7)
CHAIN = selection_chain(2, **STAYS)
BASIS = np.array([[12, 1], [2, 9], [7, 6], [1, 15.0]])
OWN = [0.4, 0.1, 1.5, 0.02]  # a dispersion for each channel
PERSISTENCE = 0.9
DRIFTING = ["--counts", "drifting"]
LAW = [*DRIFTING, *settings(dispersion=OWN, level_persistence=PERSISTENCE)]


def simulate(headwater, name, length, *law, seed=1, prior="basis-selection"):
    headwater.save("basis.npy", BASIS)
    stays = settings(**STAYS) if prior == "basis-selection" else []
    headwater("simulate", "--prior", prior, *stays, "--basis", "basis.npy", "--length", length,
              "--seed", seed, *(law or LAW), "--out", name)
    return name


def held(headwater, name):
    return held_model(headwater, name, BASIS, **STAYS,
                      law=[*LAW, "--hold", "dispersion", "--hold", "level_persistence"])


def filter_levels(y, basis, chain, dispersions, persistence, profile=np.ones((2, 1))):
    """log p(y_t | y_1..t-1) with levels carried once beside the states, and the means predicted."""
    columns = basis
    law, phi = chain.initial.copy(), np.asarray(dispersions)
    mean, variance = np.ones(len(phi)), phi.copy()
    scores, predicted = [], []
    for t, row in enumerate(y):
        basis = columns * profile[:, t % profile.shape[1]]
        if t > 0:
            law = law @ chain.transition
            variance = (phi * (1 - persistence)**2 + 2 * phi * persistence * (1 - persistence) * mean +
                        persistence**2 * variance)
            mean = 1 + persistence * (mean - 1)
        predicted.append(mean * (basis @ (law @ chain.states)))
        # A count of size a = mean^2 / variance around level times intensity.
        logs = negative_binomial.log_likelihoods(row[None], mean[:, None] * basis, chain.states,
                                                 variance / mean**2)[0]
        joint = law * np.exp(logs)
        scores.append(math.log(joint.sum()))
        law = joint / joint.sum()
        intensity = basis @ (law @ chain.states)
        seen = ~np.isnan(row)
        shape, rate = mean**2 / variance, mean / variance
        shape = np.where(seen, shape + np.nan_to_num(row), shape)
        rate = np.where(seen, rate + intensity, rate)
        mean, variance = shape / rate, shape / rate**2
    return np.array(scores), np.array(predicted)


# --- simulate ---------------------------------------------------------------------------------------


def test_simulated_levels_have_their_dispersion_and_their_persistence(headwater):
    """Of a state that never changes: mean, variance and lagged covariance of four channels. Their
    standard errors are taken from 40 stretches of the stream, which are long beside the memory of
    the levels. Twelve comparisons with Student's t of 39 degrees of freedom at 6 standard errors:
    one false alarm in 150,000."""
    length, stretches = 80000, 40
    for name, matrix in ("states", [[1.0, 1.0]]), ("transition", [[1.0]]), ("basis", BASIS):
        headwater.save(f"{name}.npy", matrix)
    headwater("simulate", "--prior", "finite", "--states", "states.npy", "--transition",
              "transition.npy", "--basis", "basis.npy", "--length", length, *LAW, "--out", "y.npy")
    mean, phi = BASIS.sum(axis=1), np.array(OWN)
    away = headwater.load("y.npy") - mean
    for values, expected in ((away, 0 * mean), (away**2, mean + phi * mean**2),
                             (away[1:] * away[:-1], PERSISTENCE * phi * mean**2)):
        parts = np.array([part.mean(axis=0) for part in np.array_split(values, stretches)])
        error = parts.std(axis=0, ddof=1) / math.sqrt(stretches)
        assert np.all(np.abs(parts.mean(axis=0) - expected) < 6 * error)


def test_without_dispersion_nothing_drifts(headwater):
    simulate(headwater, "poisson.csv", 50, "--counts", "poisson")
    simulate(headwater, "none.csv", 50, *DRIFTING, *settings(dispersion=0))
    assert headwater.path("poisson.csv").read_bytes() == headwater.path("none.csv").read_bytes()


# --- score and apply --------------------------------------------------------------------------------


def test_scores_and_predictions_are_those_of_the_plain_formulas(headwater):
    y = np.loadtxt(headwater.path(simulate(headwater, "y.csv", 60)), delimiter=",")
    y[3, 1] = y[10] = np.nan
    headwater.write("y.csv", as_csv(y))
    headwater("score", held(headwater, "model.h5"), "y.csv", "--out", "scores.npy", "--predict",
              "predicted.npy")
    scores, predicted = filter_levels(y, BASIS, CHAIN, OWN, PERSISTENCE)
    assert_close(headwater.load("scores.npy").ravel(), scores, 1e-9)
    assert_close(headwater.load("predicted.npy"), predicted, 1e-9)


def test_levels_begin_anew_with_each_sequence(headwater):
    y = np.loadtxt(headwater.path(simulate(headwater, "y.csv", 60)), delimiter=",")
    y = y.reshape(3, 20, 4)
    headwater.save("y.npy", y)
    headwater("score", held(headwater, "model.h5"), "y.npy", "--out", "scores.npy", "--predict",
              "predicted.npy")
    scores, predicted = zip(*(filter_levels(one, BASIS, CHAIN, OWN, PERSISTENCE) for one in y))
    assert_close(headwater.load("scores.npy").ravel(), np.concatenate(scores), 1e-9)
    assert_close(headwater.load("predicted.npy"), np.concatenate(predicted), 1e-9)


def test_levels_are_beside_a_season(headwater):
    y = np.loadtxt(headwater.path(simulate(headwater, "y.csv", 300)), delimiter=",")
    y[::3] = np.round(2 * y[::3])
    headwater.write("y.csv", as_csv(y))
    headwater("fit", "y.csv", "--components", 2, "--prior", "basis-selection", *settings(**STAYS),
              "--init", "basis.npy", *LAW, "--period", 3, "--average", "none", "--out", "model.h5",
              *(word for name in ("basis", "stay_off", "stay_on", "dispersion", "level_persistence")
                for word in ("--hold", name)))
    profile = np.array(headwater.facts("model.h5")["periods"][0]["profile"])
    assert np.all(profile[:, 0] > 1.3)
    headwater("score", "model.h5", "y.csv", "--out", "scores.npy", "--predict", "predicted.npy")
    scores, predicted = filter_levels(y, BASIS, CHAIN, OWN, PERSISTENCE, profile)
    assert_close(headwater.load("scores.npy").ravel(), scores, 1e-9)
    assert_close(headwater.load("predicted.npy"), predicted, 1e-9)


def test_particles_score_as_the_exact_engine(headwater):
    """20,000 particles: the log-likelihood of 60 observations is known to some .1."""
    simulate(headwater, "y.csv", 60)
    held(headwater, "model.h5")
    exact = json.loads(headwater("score", "model.h5", "y.csv", "--json"))["log_likelihood"]
    found = json.loads(headwater("score", "model.h5", "y.csv", "--json", "--engine", "particle",
                                 "--particles", 20000))["log_likelihood"]
    assert abs(found - exact) < 0.5


def test_smoothed_activations_are_within_the_states(headwater):
    simulate(headwater, "y.csv", 60)
    headwater("apply", held(headwater, "model.h5"), "y.csv", "--smooth", "--out", "x.npy")
    x = headwater.load("x.npy")
    assert x.shape == (60, 2) and np.all((x >= 0) & (x <= 1 + 1e-12))


# --- fit --------------------------------------------------------------------------------------------


def fit(headwater, data, *arguments, prior="basis-selection"):
    headwater("fit", data, "--components", 2, "--prior", prior, *arguments, "--out", "model.h5")
    return headwater.facts("model.h5")["counts"]


def test_auto_finds_levels_that_drift(headwater):
    simulate(headwater, "y.csv", 600, *DRIFTING, *settings(dispersion=0.5, level_persistence=0.95))
    counts = fit(headwater, "y.csv")
    assert counts["law"] == "drifting"
    assert len(counts["dispersion"]) == 4 and 0.8 < counts["persistence"] < 1


@pytest.mark.parametrize("method", [["--method", "online"],
                                    ["--method", "batch", "--iterations", 20, "--tolerance", 0]],
                         ids=["online", "batch"])
def test_dispersion_and_persistence_are_found(headwater, method):
    """3,000 observations of four channels. With memories of some 10 observations, 300 or so
    independent levels a channel: 1,200 tell the dispersion to 5 percent or so, the logarithm of
    rho / (1 - rho) to .1. Mean field and shrinkage have biases of that order: three of each."""
    simulate(headwater, "y.csv", 3000, *DRIFTING, *settings(dispersion=0.4, level_persistence=0.9))
    counts = fit(headwater, "y.csv", *DRIFTING, "--dispersion", "shared", *method)
    odds = counts["persistence"] / (1 - counts["persistence"])
    assert abs(math.log(odds / 9)) < 0.4
    assert abs(math.log(counts["dispersion"] / 0.4)) < 0.25


def test_what_is_held_stays(headwater):
    simulate(headwater, "y.csv", 300)
    counts = fit(headwater, "y.csv", *LAW, "--hold", "dispersion", "--hold", "level_persistence")
    assert counts == {"law": "drifting", "dispersion": OWN, "persistence": PERSISTENCE}


@pytest.mark.parametrize("extra", [
    ["--init", "random"], [], ["--dispersion", "shared"], ["--engine", "particle", "--particles", 50],
    ["--engine", "beam", "--beam-width", 3],
    ["--engine", "fast", "--prior", "gamma", "--start-on", 300],
    ["--period", 12], ["--sequence-column", 1],
], ids=["random start", "searched start", "shared", "particles", "beam", "fast", "season",
        "sequences"])
def test_a_resumed_fit_gives_the_same_bytes(headwater, extra):
    simulate(headwater, "y.csv", 1300)
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    if "--sequence-column" in extra:
        lines = [f"{t // 150},{line}" for t, line in enumerate(lines)]
        headwater.write("y.csv", "".join(lines))
    headwater.write("first.csv", "".join(lines[:1100]))
    words = ["--components", 2, "--prior", "basis-selection", *DRIFTING, *extra, "--quiet"]
    headwater("fit", "y.csv", *words, "--out", "whole.h5")
    headwater("fit", "first.csv", *words, "--checkpoint", "state", "--out", "first.h5")
    headwater("fit", "y.csv", *words, "--resume", "state", "--out", "resumed.h5")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def waves(seed, weeks=61, areas=129):
    """Cases in areas of all sizes: three waves, each with its own heights in four regions."""
    random = np.random.default_rng(seed)
    regions = random.integers(0, 4, areas)
    sizes = np.exp(random.normal(3, 1.3, areas))
    week = np.arange(weeks)[:, None]
    rates = np.full((weeks, areas), 0.05)
    for peak in 8, 28, 47:
        delays = random.normal(0, 2, 4)[regions] + random.normal(0, 1, areas)
        heights = np.exp(random.normal(1, 0.7, 4))[regions] * np.exp(random.normal(0, 0.3, areas))
        width = random.uniform(2.5, 5)
        rates += heights * np.exp(-0.5 * ((week - peak - delays) / width)**2)
    return random.poisson(rates * sizes * random.gamma(10, 0.1, rates.shape))


@pytest.mark.parametrize("prior", ["log-gaussian", "gamma"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_short_streams_are_told_to_drift(headwater, prior, seed):
    """What a wave is like says little of the next one. Only to a basis that has seen the weeks that
    it is to predict do the levels of the areas seem to stay as they are."""
    headwater.write("y.csv", as_csv(waves(seed)))
    done = headwater.attempt("fit", "y.csv", "--components", 5, "--prior", prior, "--start-on", 30,
                             "--out", "m.h5")
    assert done.returncode == 0
    assert json.loads(headwater("show", "--json", "m.h5"))["counts"]["law"] == "drifting"
    assert b"worse than the running mean" not in done.stderr


@pytest.mark.parametrize("value", ["1", "-0.1", "0.5,0.5"])
def test_a_persistence_out_of_range_is_refused(headwater, value):
    done = headwater.attempt("simulate", "--prior", "basis-selection", "--channels", 2,
                             "--components", 2, "--length", 3, *DRIFTING, "--set",
                             f"level_persistence={value}", "--out", "y.csv")
    assert done.returncode == 2
    assert done.stderr.decode() == ("headwater: level_persistence: expected one number in [0, 1)\n")


def test_surprises_are_uniform(headwater):
    """By Kolmogorov's test: a distance of n uniform numbers exceeds sqrt(log(2 / a) / 2 n) with a
    probability of a at most, here one in a million."""
    length = 2000
    simulate(headwater, "y.csv", length)
    held(headwater, "model.h5")
    headwater("score", "model.h5", "y.csv", "--surprise", "--out", "scores.npy")
    p = np.sort(headwater.load("scores.npy")[:, 1])
    steps = np.arange(1, length + 1) / length
    limit = math.sqrt(math.log(2e6) / (2 * length))
    assert max((steps - p).max(), (p - steps + 1 / length).max()) < limit
