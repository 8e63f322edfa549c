"""The law of the counts: --counts, --dispersion, and what models, checkpoints and scores make of
it."""

import json
import math
import zlib

import h5py
import numpy as np
import pytest

import negative_binomial
from hidden_markov import run_filter, selection_chain, smooth
from support import as_csv, assert_close, held_model, settings

STAYS = dict(stay_off=0.85, stay_on=0.7)
CHAIN = selection_chain(2, **STAYS)
BASIS = np.array([[12, 1], [2, 9], [7, 6], [1, 15.0]])
OWN = [0.4, 0.1, 1.5, 0.02]  # a dispersion for each channel
NEGATIVE_BINOMIAL = ["--counts", "negative-binomial"]
PRIORS = {
    "basis-selection": STAYS,
    "relaxed-selection": dict(alpha=0.9),
    "gamma": dict(shape=2, persistence=0.8),
    "log-gaussian": dict(persistence=0.8, noise=0.4),
    "independent": dict(shape=2),
}


def simulate(headwater, name, dispersion, length, *, prior="basis-selection", seed=1, basis=BASIS):
    """Without a dispersion, from the Poisson law."""
    law = NEGATIVE_BINOMIAL + settings(dispersion=dispersion) if dispersion is not None else []
    headwater.save("basis.npy", basis)
    headwater("simulate", "--prior", prior, *settings(**PRIORS[prior]), "--basis", "basis.npy",
              "--length", length, "--seed", seed, *law, "--out", name)
    return name


def fit(headwater, data, *arguments, prior="basis-selection"):
    headwater("fit", data, "--components", 2, "--prior", prior, *arguments, "--out", "model.h5")
    return headwater.facts("model.h5")


def refusal(headwater, *arguments):
    before = headwater.listing()
    done = headwater.attempt(*arguments)
    assert done.returncode == 2
    assert headwater.listing() == before
    error = done.stderr.decode()
    assert error.startswith("headwater: ") and error.count("\n") == 1
    return error


# --- simulate ---------------------------------------------------------------------------------------


def test_simulated_counts_have_the_mean_and_the_variance(headwater):
    """Four means and four variances, of a state that never changes. A normal variable is farther
    than 5.3 standard errors from its mean once in 8.6 million times: one alarm in a million."""
    length = 40000
    for name, matrix in ("states", [[1.0, 1.0]]), ("transition", [[1.0]]), ("basis", BASIS):
        headwater.save(f"{name}.npy", matrix)
    headwater("simulate", "--prior", "finite", "--states", "states.npy", "--transition",
              "transition.npy", "--basis", "basis.npy", "--length", length, *NEGATIVE_BINOMIAL,
              *settings(dispersion=OWN), "--out", "y.npy")
    y, mean = headwater.load("y.npy"), BASIS.sum(axis=1)
    variance = mean + np.array(OWN) * mean**2
    squares = (y - mean)**2
    assert np.all(np.abs(y.mean(axis=0) - mean) < 5.3 * np.sqrt(variance / length))
    error = squares.std(axis=0) / math.sqrt(length)
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 5.3 * error)


def test_no_dispersion_is_the_poisson_law(headwater):
    simulate(headwater, "poisson.csv", None, 50)
    simulate(headwater, "none.csv", 0, 50)
    assert headwater.path("poisson.csv").read_bytes() == headwater.path("none.csv").read_bytes()


def test_simulate_wants_one_law(headwater):
    error = refusal(headwater, "simulate", "--prior", "basis-selection", *settings(**STAYS),
                    "--channels", 4, "--components", 2, "--length", 5, "--counts", "auto", "--out",
                    "y.csv")
    assert error == "headwater: simulate needs the name of one law; --counts auto is for fit only\n"


# --- fit --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS)
def test_auto_tells_dispersed_counts_from_poisson_counts(headwater, prior):
    """A Poisson stream is taken for a dispersed one if the gain, were it normal with mean 0, is
    beyond three standard errors: with a probability of .0013, of five streams .007. bench/law_choice
    counts the errors over many streams."""
    simulate(headwater, "dispersed.csv", 0.5, 400, prior=prior)
    assert fit(headwater, "dispersed.csv", prior=prior)["counts"]["law"] == "negative-binomial"
    simulate(headwater, "poisson.csv", None, 400, prior=prior)
    assert fit(headwater, "poisson.csv", prior=prior)["counts"]["law"] == "poisson"


def test_a_basis_that_is_not_known_yet_is_no_drift(headwater):
    """400 channels of few counts. Levels that drift predict better, by 6 standard errors, as long as
    the basis is known from two thirds of the observations; with all of them they do not."""
    headwater("simulate", "--prior", "gamma", "--channels", 400, "--components", 3, "--scale", 0.2,
              "--length", 700, "--seed", 1, "--out", "y.npy")
    headwater("fit", "y.npy", "--components", 3, "--prior", "gamma", "--out", "m.h5", "--quiet")
    assert headwater.facts("m.h5")["counts"]["law"] == "poisson"


def test_the_summary_says_what_was_chosen_and_by_how_much(headwater):
    simulate(headwater, "y.csv", 0.5, 400)
    done = headwater.attempt("fit", "y.csv", "--components", 2, "--prior", "basis-selection",
                             "--out", "model.h5")
    line, levels = [line for line in done.stderr.decode().splitlines()
                    if line.startswith("counts ")]
    start = ("counts negative-binomial: negative-binomial predicts held-out observations better, "
             "by ")
    assert line.startswith(start)
    gain, error = line[len(start):].split(" nats an observation (standard error ")
    assert float(gain) > 3 * float(error.rstrip(")")) > 0
    assert levels.startswith("counts negative-binomial: drifting predicts held-out observations "
                             "worse, by ")


def test_show_has_the_law_and_its_dispersion(headwater):
    simulate(headwater, "y.csv", OWN, 300)
    own = fit(headwater, "y.csv", *NEGATIVE_BINOMIAL)["counts"]
    assert own["law"] == "negative-binomial" and len(own["dispersion"]) == 4
    text = headwater("show", "model.h5").decode()
    assert "counts negative-binomial\n" in text and "dispersion" in text
    shared = fit(headwater, "y.csv", *NEGATIVE_BINOMIAL, "--dispersion", "shared")["counts"]
    assert isinstance(shared["dispersion"], float)
    assert fit(headwater, "y.csv", "--counts", "poisson")["counts"] == {"law": "poisson"}


def test_what_is_held_stays(headwater):
    simulate(headwater, "y.csv", OWN, 300)
    held = fit(headwater, "y.csv", *NEGATIVE_BINOMIAL, *settings(dispersion=0.25), "--hold",
               "dispersion")["counts"]
    assert held["dispersion"] == [0.25] * 4
    held = fit(headwater, "y.csv", *NEGATIVE_BINOMIAL, *settings(dispersion=OWN), "--hold",
               "dispersion", "--method", "batch", "--iterations", 3)["counts"]
    assert held["dispersion"] == OWN


@pytest.mark.parametrize("arguments, reason", [
    ([*NEGATIVE_BINOMIAL, "--set", "dispersion=-1"],
     "dispersion is -1; expected a number from 0 to 1e+06"),
    (["--set", "dispersion=nan"], "dispersion is nan; expected a number from 0 to 1e+06"),
    ([*NEGATIVE_BINOMIAL, "--set", "dispersion=2e6"],
     "dispersion is 2000000; expected a number from 0 to 1e+06"),
    ([*NEGATIVE_BINOMIAL, "--set", "dispersion=1,2"], "dispersion has 2 values; expected 1 or 4"),
    ([*NEGATIVE_BINOMIAL, "--dispersion", "shared", "--set", "dispersion=1,2,3,4"],
     "dispersion has 4 values; expected 1"),
    ([*NEGATIVE_BINOMIAL, "--set", "dispersion=much"],
     "--set dispersion=much: expected a number, or several with commas between them"),
    (["--counts", "poisson", "--set", "dispersion=1"],
     "counts poisson has no parameter 'dispersion'"),
    (["--counts", "poisson", "--hold", "dispersion"],
     "counts poisson has no parameter 'dispersion'"),
    (["--paper-exact", "--set", "dispersion=1"], "counts poisson has no parameter 'dispersion'"),
    (["--paper-exact", *NEGATIVE_BINOMIAL],
     "paper-exact has counts poisson; it cannot go with counts negative-binomial"),
    (["--counts", "normal"],
     "--counts normal: expected one of auto, poisson, negative-binomial, drifting, "
         "hurdle, drifting-hurdle"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_what_makes_no_sense_is_refused(headwater, arguments, reason):
    headwater.write("y.csv", "1,2,3,4\n0,0,2,1\n")
    error = refusal(headwater, "fit", "y.csv", "--components", 2, "--prior", "basis-selection",
                    *arguments, "--out", "model.h5")
    assert error == f"headwater: {reason}\n"


def test_paper_exact_is_poisson(headwater):
    simulate(headwater, "y.csv", 0.5, 200)
    assert fit(headwater, "y.csv", "--paper-exact")["counts"] == {"law": "poisson"}


def with_holes(y):
    return np.where(np.random.default_rng(3).random(y.shape) < 0.08, np.nan, y)


def test_batch_em_finds_the_maximum_of_the_likelihood(headwater):
    """Where the climb of an independent implementation ends, from another start."""
    simulate(headwater, "y.npy", 0.4, 120)
    y = with_holes(headwater.load("y.npy"))
    headwater.save("y.npy", y)
    headwater.save("start.npy", BASIS * np.exp(0.2 * np.random.default_rng(4).standard_normal(
        BASIS.shape)))
    found = fit(headwater, "y.npy", "--method", "batch", *NEGATIVE_BINOMIAL, "--dispersion",
                "shared", "--init", "start.npy", *settings(**STAYS), "--hold", "stay_off", "--hold",
                "stay_on", "--basis-shape", 1, "--basis-rate", 0, "--basis-floor", 0,
                "--tolerance", 0, "--iterations", 1000)
    basis, dispersion, climbed = negative_binomial.fit(y, BASIS, CHAIN, 0.1, iterations=110)
    assert np.all(np.diff(climbed) > -1e-9)
    assert_close(found["log_likelihood"], climbed[-1], relative=1e-10)
    assert_close(found["counts"]["dispersion"], dispersion, relative=1e-6)
    assert_close(headwater.basis("model.h5"), basis, relative=1e-6)


def test_the_log_says_what_the_start_had_seen(headwater):
    simulate(headwater, "y.csv", 0.5, 300)
    facts = fit(headwater, "y.csv", "--start-on", 100, "--log", "log")
    lines = [json.loads(line) for line in headwater.path("log").read_text().splitlines()]
    assert [line["in_start"] for line in lines] == [True] * 100 + [False] * 200
    after = sum(line["log_predictive"] for line in lines[100:])
    assert facts["observations_after_start"] == 200
    assert facts["log_likelihood_after_start"] == pytest.approx(after, rel=1e-12)


# --- models and checkpoints -------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [
    ["--init", "random"], [], ["--dispersion", "shared"], ["--engine", "particle", "--particles", 50],
    ["--engine", "beam", "--beam-width", 3],
    ["--engine", "fast", "--prior", "gamma", "--init", "random"], ["--counts", "auto", "--init", "auto"],
], ids=["random start", "searched start", "shared", "particles", "beam", "fast", "auto"])
def test_a_resumed_fit_gives_the_same_bytes(headwater, extra):
    simulate(headwater, "y.csv", OWN, 1500)
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    headwater.write("first.csv", "".join(lines[:1200]))
    words = ["--components", 2, "--prior", "basis-selection", *NEGATIVE_BINOMIAL, *extra, "--quiet"]
    headwater("fit", "y.csv", *words, "--out", "whole.h5")
    headwater("fit", "first.csv", *words, "--checkpoint", "state", "--out", "first.h5")
    headwater("fit", "y.csv", *words, "--resume", "state", "--out", "resumed.h5")
    assert headwater.facts("whole.h5")["counts"]["law"] == "negative-binomial"
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_a_checkpoint_of_another_law_is_refused(headwater):
    simulate(headwater, "y.csv", OWN, 200)
    words = ["fit", "y.csv", "--components", 2, "--prior", "basis-selection", "--quiet"]
    headwater(*words, *NEGATIVE_BINOMIAL, "--checkpoint", "state", "--out", "model.h5")
    done = headwater.attempt(*words, "--counts", "poisson", "--resume", "state", "--out", "other.h5")
    assert done.returncode == 1
    assert done.stderr.decode() == ("headwater: state: belongs to a fit with counts "
                                    "negative-binomial; this one has counts poisson\n")


def seal(path):
    contents = path.read_bytes()[512:]
    head = f"headwater model\nchecksum {zlib.crc32(contents):08x}\n".encode().ljust(512, b"\0")
    path.write_bytes(head + contents)


def test_a_model_without_a_law_is_of_the_poisson_law(headwater):
    """As version 0.1 wrote them."""
    model = held_model(headwater, "model.h5", BASIS, **STAYS, law=["--counts", "poisson"])
    headwater.save("y.npy", headwater.load(simulate(headwater, "y.npy", OWN, 50)))
    now = headwater.score(model, "y.npy")
    with h5py.File(headwater.path(model), "r+") as file:
        del file["counts"], file["last_iterate/counts"]
        for name in "log_likelihood_after_start", "observations_after_start":
            del file["summary"][name]
    seal(headwater.path(model))
    assert headwater.facts(model)["counts"] == {"law": "poisson"}
    assert headwater.score(model, "y.npy") == now


# --- apply and score --------------------------------------------------------------------------------


@pytest.mark.parametrize("dispersion", [OWN, 0.3], ids=["channel", "shared"])
def test_apply_and_score_use_the_law_of_the_model(headwater, dispersion):
    shared = [] if dispersion is OWN else ["--dispersion", "shared"]
    model = held_model(headwater, "model.h5", BASIS, **STAYS, law=[
        *NEGATIVE_BINOMIAL, *shared, *settings(dispersion=dispersion), "--hold", "dispersion"])
    y = with_holes(headwater.load(simulate(headwater, "y.npy", dispersion, 200)))
    headwater.save("y.npy", y)
    table = negative_binomial.log_likelihoods(y, BASIS, CHAIN.states, dispersion)
    expected = run_filter(table, CHAIN)
    headwater("apply", model, "y.npy", "--out", "filtered.npy")
    headwater("apply", model, "y.npy", "--out", "smoothed.npy", "--smooth")
    totals = headwater.score(model, "y.npy", "--out", "steps.npy", "--predict", "predicted.npy")
    assert_close(headwater.load("filtered.npy"), expected.after @ CHAIN.states, relative=1e-11)
    assert_close(headwater.load("smoothed.npy"), smooth(CHAIN, expected)[0] @ CHAIN.states,
                 relative=1e-11)
    assert_close(headwater.load("steps.npy")[:, 0], expected.log_predictive, relative=1e-11)
    assert_close(headwater.load("predicted.npy"), expected.before @ CHAIN.states @ BASIS.T,
                 relative=1e-11)
    assert totals["log_likelihood"] == pytest.approx(expected.log_predictive.sum(), rel=1e-11)


def test_a_held_fit_predicts_what_score_does(headwater):
    simulate(headwater, "y.csv", OWN, 200)
    law = [*NEGATIVE_BINOMIAL, *settings(dispersion=OWN), "--hold", "dispersion"]
    model = held_model(headwater, "model.h5", BASIS, **STAYS, law=law)
    headwater("fit", "y.csv", "--components", 2, "--prior", "basis-selection", *settings(**STAYS),
              "--hold", "stay_off", "--hold", "stay_on", "--init", "held_basis.npy", "--hold",
              "basis", *law, "--log", "log", "--out", "again.h5")
    logged = [json.loads(line)["log_predictive"]
              for line in headwater.path("log").read_text().splitlines()]
    assert headwater.score(model, "y.csv")["log_likelihood"] == pytest.approx(sum(logged), rel=1e-12)


def kolmogorov_distance(p):
    p, n = np.sort(p), len(p)
    return max(np.max(np.arange(1, n + 1) / n - p), np.max(p - np.arange(n) / n))


def test_p_values_are_uniform_where_the_law_is_right(headwater):
    """By Kolmogorov's test: a distance of n uniform numbers exceeds sqrt(log(2 / a) / 2 n) with a
    probability of a at most, here one in a million."""
    length = 4000
    simulate(headwater, "y.csv", OWN, length)
    limit = math.sqrt(math.log(2e6) / (2 * length))
    law = [*NEGATIVE_BINOMIAL, *settings(dispersion=OWN), "--hold", "dispersion"]
    right = held_model(headwater, "right.h5", BASIS, **STAYS, law=law)
    headwater("score", right, "y.csv", "--surprise", "--out", "right.npy")
    assert kolmogorov_distance(headwater.load("right.npy")[:, 1]) < limit
    poisson = held_model(headwater, "poisson.h5", BASIS, **STAYS, law=["--counts", "poisson"])
    headwater("score", poisson, "y.csv", "--surprise", "--out", "poisson.npy")
    assert kolmogorov_distance(headwater.load("poisson.npy")[:, 1]) > 3 * limit
