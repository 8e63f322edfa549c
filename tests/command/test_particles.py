"""The particle engine from outside: all priors, all smoothers, reproducible bytes, clear
messages."""

import json

import numpy as np
import pytest

from support import as_csv, held_model, settings

STAY_OFF, STAY_ON = 0.8571, 0.6926
CONTINUOUS = {
    "relaxed-selection": dict(alpha=0.9),
    "log-gaussian": dict(persistence=0.8, noise=0.4),
    "gamma": dict(shape=2, persistence=0.7),
    "independent": dict(shape=2),
}


@pytest.fixture(scope="module")
def selection(shared_headwater):
    """A folder with a binary stream and a model with its parameters."""
    command = shared_headwater
    command("simulate", "--prior", "basis-selection",
            *settings(stay_off=STAY_OFF, stay_on=STAY_ON), "--channels", 6, "--components", 3,
            "--scale", 3, "--length", 300, "--seed", 4, "--out", "y.npy", "--save-basis", "b.npy")
    held_model(command, "truth.h5", command.load("b.npy"), STAY_OFF, STAY_ON)
    return command


def fit_relaxed(command, out, *more, data="relaxed.npy"):
    command("fit", data, "--components", 3, "--prior", "relaxed-selection", "--particles", 200,
            "--out", out, *more)
    return command.basis(out)


@pytest.fixture(scope="module")
def relaxed(shared_headwater):
    shared_headwater("simulate", "--prior", "relaxed-selection", "--channels", 6,
                     "--components", 3, "--length", 700, "--seed", 2, "--out", "relaxed.npy")
    return shared_headwater


def check_likelihood(selection, *options):
    """The log of an unbiased estimate is low by half its variance. Over 24 seeds Student's t has 23
    degrees of freedom, and exceeds 6.6 once in a million."""
    exact = selection.score("truth.h5", "y.npy")["log_likelihood"]
    estimates = [selection.score("truth.h5", "y.npy", "--engine", "particle", *options, "--seed",
                                 seed)["log_likelihood"] for seed in range(24)]
    variance = np.var(estimates, ddof=1)
    assert variance < 1
    # The mean's error, and that of half the variance.
    standard_error = np.sqrt(variance / 24 + variance ** 2 / (2 * 23))
    assert abs(np.mean(estimates) + variance / 2 - exact) < 6.6 * standard_error


def test_the_likelihood_agrees_with_the_exact_one(selection):
    check_likelihood(selection, "--particles", 2000)


def test_filtered_predicted_and_smoothed_means_agree_with_the_exact_ones(selection):
    particle = ["--engine", "particle", "--particles", 5000]
    for name, arguments in {"filtered": ["apply", "truth.h5", "y.npy", "--out"],
                            "smoothed": ["apply", "truth.h5", "y.npy", "--smooth", "--out"],
                            "predicted": ["score", "truth.h5", "y.npy", "--predict"]}.items():
        selection(*arguments, f"{name}_exact.npy")
        selection(*arguments, f"{name}_particle.npy", *particle)
        truth = selection.load(f"{name}_exact.npy")
        error = selection.load(f"{name}_particle.npy") - truth
        # Standard errors are about truth / sqrt(5000), 1.4 %, and larger if few particles have
        # weight. A limit of 3 % on the root-mean-square error leaves a factor of two.
        assert np.sqrt(np.mean(error ** 2)) < 0.03 * np.sqrt(np.mean(truth ** 2)), name


@pytest.mark.parametrize("prior", list(CONTINUOUS))
def test_every_prior_is_learned(headwater, prior):
    shape = ["--prior", prior, *settings(**CONTINUOUS[prior])]
    headwater("simulate", *shape, "--channels", 5, "--components", 2, "--length", 400,
              "--out", "y.csv")
    headwater("fit", "y.csv", "--components", 2, "--prior", prior, "--particles", 100,
              "--out", "m.h5")
    facts = headwater.facts("m.h5")
    assert facts["engine"] == "particle"
    assert np.isfinite(facts["log_likelihood"])
    assert set(facts["prior"]["parameters"]) == set(CONTINUOUS[prior])
    assert (headwater.basis("m.h5") > 0).all()


def test_finite_priors_are_learned_by_particles_too(selection):
    for prior in ("basis-selection", "finite"):
        selection("fit", "y.npy", "--components", 3, "--prior", prior, "--engine", "particle",
                  "--particles", 100, "--background", "--out", f"{prior}.h5")
        assert selection.facts(f"{prior}.h5")["engine"] == "particle"


@pytest.mark.parametrize("smoother", ["lag", "path"])
def test_the_same_bytes_where_threads_share_a_step(relaxed, smoother):
    relaxed.save("few.npy", relaxed.load("relaxed.npy")[:60])
    models = []
    for threads in 1, 2, 3:
        done = relaxed.attempt("fit", "few.npy", "--components", 3, "--prior", "relaxed-selection",
                               "--particles", 8000, "--smoother", smoother, "--init", "random",
                               "--threads", threads, "--out", "shared.h5")
        assert done.returncode == 0
        assert b"too small to be shared" not in done.stderr
        models.append(relaxed.path("shared.h5").read_bytes())
    assert models[0] == models[1] == models[2]


def test_a_step_that_is_too_small_for_threads_is_said_once(relaxed):
    done = relaxed.attempt("fit", "relaxed.npy", "--components", 3, "--prior", "relaxed-selection",
                           "--particles", 200, "--init", "random", "--threads", 2, "--out", "s.h5")
    assert done.stderr.count(b"steps of 200 particles are too small to be shared") == 1


@pytest.mark.parametrize("smoother", [["lag"], ["lag", "--lag", 3], ["path"], ["paris"],
                                      ["paris", "--backward", "exact"],
                                      ["paris", "--backward", "rejection", "--lag", 5],
                                      ["forward", "--lag", 5]])
def test_the_same_bytes_for_any_threads_and_for_a_pipe(relaxed, smoother):
    # These compare every particle with many of the observation before.
    is_slow = smoother[0] == "forward" or "exact" in smoother or "rejection" in smoother
    options = ["--smoother", *smoother, "--particles", 200 if is_slow else 600, "--burn-in", 10]
    if is_slow:
        relaxed.save("short.npy", relaxed.load("relaxed.npy")[:20])
    # One smoother is enough to see that the search for a start does not depend on threads.
    options += ["--start-on", 100] if smoother == ["lag"] else ["--init", "random"]
    data = "short.npy" if is_slow else "relaxed.npy"
    one = fit_relaxed(relaxed, "one.h5", *options, data=data)
    for threads in (2, 3):
        assert (fit_relaxed(relaxed, "more.h5", *options, "--threads", threads, data=data)
                == one).all()
    relaxed("fit", "-", "--components", 3, "--prior", "relaxed-selection", "--particles", 200,
            "--out", "piped.h5", *options, given=as_csv(relaxed.load(data)).encode())
    assert (relaxed.basis("piped.h5") == one).all()


def test_the_seed_matters(relaxed):
    start = ["--init", "random"]
    one = fit_relaxed(relaxed, "seed1.h5", *start, "--seed", 1)
    assert (fit_relaxed(relaxed, "seed1b.h5", *start, "--seed", 1) == one).all()
    assert (fit_relaxed(relaxed, "seed2.h5", *start, "--seed", 2) != one).any()


@pytest.mark.parametrize("below", [1, 0.5, 0])
def test_path_has_the_statistics_that_algorithm_1_has(relaxed, below):
    """All parameters keep their starting values until one M-step at the end, so the basis is S2 /
    S1."""
    length = len(relaxed.load("relaxed.npy"))
    options = ["--burn-in", length, "--average", "none", "--resample-below", below,
               "--init", "start.npy"]
    relaxed.save("start.npy", np.arange(1, 19).reshape(6, 3) / 3)
    plain = ["--basis-shape", 1, "--basis-rate", 0, "--basis-floor", 0, "--transition-weight", 0]
    printed = fit_relaxed(relaxed, "printed.h5", *options, "--paper-exact")
    path = fit_relaxed(relaxed, "path.h5", *options, *plain, "--smoother", "path")
    np.testing.assert_allclose(path, printed, rtol=1e-10)
    assert (relaxed.parameters("path.h5")["alpha"]
            == pytest.approx(relaxed.parameters("printed.h5")["alpha"], rel=1e-10))


def test_the_log_tells_of_the_particles(relaxed):
    # From a given start, one fit leads from the first line to the last.
    relaxed.save("start.npy", np.arange(1, 19).reshape(6, 3) / 3)
    fit_relaxed(relaxed, "logged.h5", "--log", "steps.jsonl", "--init", "start.npy")
    lines = [json.loads(line) for line in relaxed.path("steps.jsonl").read_text().splitlines()]
    assert [line["t"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(1 <= line["ess"] <= 200 * (1 + 1e-12) for line in lines)
    assert not lines[0]["resampled"]
    for before, line in zip(lines, lines[1:]):
        assert line["resampled"] == (before["ess"] < 100)
        assert (line["unique_ancestors"] < 200) == line["resampled"]


def test_an_impossible_observation_is_counted_or_fatal(headwater):
    # Both components are off or on. At t = 3 a channel with no basis entry has a count.
    data = np.ones((6, 3))
    data[:, 2] = 0
    data[2, 2] = 4
    headwater.write("y.csv", as_csv(data))
    headwater.save("start.npy", np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]]))
    fit = ["fit", "y.csv", "--components", 2, "--prior", "relaxed-selection", "--init", "start.npy",
           "--hold", "basis", "--hold", "alpha", "--particles", 50, "--out", "m.h5"]
    done = headwater.attempt(*fit)
    assert done.returncode == 0
    assert "1 observations were impossible" in done.stderr.decode()
    assert headwater.facts("m.h5")["impossible_observations"] == 1
    strict = headwater.attempt(*fit, "--strict")
    assert strict.returncode == 1
    assert (strict.stderr.decode()
            == "headwater: observation 3 is impossible under the parameters of its time\n")


def test_batch_by_particles_climbs(relaxed):
    relaxed("fit", "relaxed.npy", "--components", 3, "--prior", "relaxed-selection", "--method",
            "batch", "--iterations", 12, "--particles", 300, "--init", "random", "--out", "batch.h5")
    values = relaxed.trace("batch.h5")["log_likelihood"]
    assert len(values) == 13
    # The estimate of each iteration has a standard deviation of a few nats; the gain is hundreds.
    assert values[-1] > values[0] + 100
    assert (np.diff(values)[:4] > 0).all()


def test_the_likelihood_by_guided_particles_agrees_with_the_exact_one(selection):
    check_likelihood(selection, "--particles", 500, "--proposal", "guided")


@pytest.mark.parametrize("prior", list(CONTINUOUS))
def test_the_model_says_how_particles_moved(headwater, prior):
    headwater("simulate", "--prior", prior, "--channels", 30, "--components", 3,
              "--length", 300, "--seed", 2, "--out", "y.npy", "--save-basis", "b.npy")
    fit = ["fit", "y.npy", "--components", 3, "--prior", prior, "--init", "b.npy",
           "--particles", 100, "--out", "m.h5", "--log", "log.jsonl"]
    for proposal, chosen in {"auto": "guided", "guided": "guided", "prior": "prior"}.items():
        headwater(*fit, "--proposal", proposal)
        shown = json.loads(headwater("show", "m.h5", "--json"))
        assert shown["proposal"] == chosen
        assert 0 < shown["effective_part"] <= 1
        first = json.loads(headwater.path("log.jsonl").read_text().splitlines()[0])
        assert first["guided"] == (chosen == "guided")


def test_too_few_particles_are_named_with_what_to_change(headwater):
    headwater("simulate", "--prior", "independent", "--channels", 60, "--components", 6,
              "--scale", 20, "--length", 300, "--seed", 2, "--out", "y.npy", "--save-basis", "b.npy")
    fit = ["fit", "y.npy", "--components", 6, "--prior", "independent", "--init", "b.npy",
           "--hold", "basis", "--particles", 100, "--out", "m.h5"]
    words = headwater.attempt(*fit, "--proposal", "prior").stderr.decode()
    assert "too few to rely on: use --proposal guided" in words
    assert "too few" not in headwater.attempt(*fit).stderr.decode()
