"""Output during a stream, invalid rows, and exposures."""

import json
import subprocess

import numpy as np
import pytest

from support import TIMEOUT, as_csv, read_csv, settings

FIT = ("--components", 2, "--prior", "basis-selection", "--quiet")


@pytest.fixture
def simulated(headwater):
    headwater("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2,
              "--length", 600, "--seed", 3, "--out", "counts.csv", "--save-basis", "basis.npy",
              "--save-activations", "x.npy")
    return np.loadtxt(headwater.path("counts.csv"), delimiter=",")


def hold_everything(headwater):
    return ("--init", "basis.npy", "--hold", "basis", "--hold", "stay_off", "--hold", "stay_on",
            *settings(stay_off=0.9, stay_on=0.7))


def test_live_activations_are_those_of_apply(headwater, simulated):
    live = headwater("fit", "counts.csv", *FIT, *hold_everything(headwater), "--out", "model.h5",
                     "--activations", "-")
    headwater("apply", "model.h5", "counts.csv", "--out", "applied.npy")
    np.testing.assert_allclose(read_csv(live), headwater.load("applied.npy"), atol=1e-12)


def test_a_row_comes_out_for_each_row_that_goes_in(headwater, simulated):
    process = headwater.start("fit", "-", *FIT, "--init", "basis.npy", "--out", "model.h5",
                              "--activations", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for row in simulated[:50]:
        process.stdin.write(as_csv([row]).encode())
        process.stdin.flush()
        assert len(process.stdout.readline().split(b",")) == 2  # or it would wait for ever
    assert process.communicate(timeout=TIMEOUT)[0] == b""
    assert process.returncode == 0


def test_a_consumer_that_goes_away_ends_the_fit_with_one_line(headwater, simulated):
    process = headwater.start("fit", "-", *FIT, "--init", "basis.npy", "--out", "model.h5",
                              "--activations", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    process.stdout.close()
    _, error = process.communicate(as_csv(simulated).encode(), timeout=TIMEOUT)
    assert process.returncode == 1
    assert error == b"headwater: standard output: cannot be written: Broken pipe\n"
    assert not headwater.path("model.h5").exists()


def test_surprise_adds_two_columns_and_finds_what_does_not_belong(headwater, simulated):
    simulated[400] += 60
    headwater.write("strange.csv", as_csv(simulated))
    rows = read_csv(headwater("fit", "strange.csv", *FIT, *hold_everything(headwater), "--out",
                              "model.h5", "--activations", "-", "--surprise"))
    assert rows.shape == (600, 4)
    assert np.argmin(rows[:, 3]) == 400 and rows[400, 3] < 1e-6
    assert np.argmax(rows[:, 2]) == 400
    headwater("score", "model.h5", "strange.csv", "--out", "score.npy", "--surprise")
    score = headwater.load("score.npy")
    assert score.shape == (600, 2) and np.argmin(score[:, 1]) == 400
    np.testing.assert_allclose(-score[:, 0], rows[:, 2], rtol=1e-12)


@pytest.mark.parametrize("arguments, words", [
    (["--surprise"], b"--surprise adds to --log or --activations"),
    (["--log", "-", "--activations", "-"], b"only one of --log - and --activations -"),
    (["--activations", "x.csv", "--restarts", 2], b"--activations describes one fit"),
    (["--activations", "x.csv", "--method", "batch"], b"--activations needs online EM"),
])
def test_outputs_that_cannot_be_are_refused(headwater, simulated, arguments, words):
    done = headwater.attempt("fit", "counts.csv", *FIT, *arguments, "--out", "model.h5")
    assert done.returncode == 2 and words in done.stderr


def test_bad_rows_are_left_out_counted_and_logged(headwater, simulated):
    lines = headwater.path("counts.csv").read_text().splitlines(keepends=True)
    headwater.write("bad.csv", "".join(lines[:300] + ["1,2,-3,4\n", "1,2\n", "1,x,3,4\n"]
                                       + lines[300:]))
    done = headwater.attempt("fit", "bad.csv", *FIT, "--out", "bad.h5")
    assert done.returncode == 1 and b"bad.csv:301: column 3: '-3' is negative" in done.stderr
    fit = [word for word in FIT if word != "--quiet"]
    done = headwater.attempt("fit", "bad.csv", *fit, "--on-bad-row", "skip", "--log", "log.jsonl",
                             "--out", "bad.h5")
    assert done.returncode == 0
    assert b"3 rows could not be read and were left out" in done.stderr
    logged = [json.loads(line) for line in headwater.path("log.jsonl").read_text().splitlines()]
    assert [line["bad_row"].split(":")[1] for line in logged if "bad_row" in line] == [
        "301", "302", "303"]
    headwater("fit", "counts.csv", *FIT, "--out", "good.h5")
    assert headwater.path("bad.h5").read_bytes() == headwater.path("good.h5").read_bytes()


# The likelihood of y ~ Poisson(e B x) agrees with its definition, in every command.
def test_exposures_multiply_intensities(headwater, simulated):
    exposures = np.random.default_rng(5).uniform(0.5, 2, simulated.shape)
    basis, x = headwater.load("basis.npy"), headwater.load("x.npy")
    y = np.random.default_rng(6).poisson(exposures * (x @ basis.T)).astype(float)
    headwater.write("y.csv", as_csv(y))
    headwater.write("e.csv", as_csv(exposures))
    headwater("fit", "counts.csv", *FIT, *hold_everything(headwater), "--out", "model.h5")
    scored = headwater.score("model.h5", "y.csv", "--exposure", "e.csv", "--predict", "means.npy",
                             "--out", "scores.npy")
    states = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    rates = states @ basis.T  # states x channels
    chain = np.array([[0.9, 0.1], [0.3, 0.7]])
    transition = np.kron(chain, chain)
    start = np.array([0.75, 0.25])
    law = np.kron(start, start)
    from math import lgamma
    total = 0
    for t in range(len(y)):
        means = exposures[t] * rates
        np.testing.assert_allclose(headwater.load("means.npy")[t] if t < 3 else 0,
                                   law @ means if t < 3 else 0, atol=1e-9)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(y[t] > 0, y[t] * np.log(means), 0).sum(axis=1) - means.sum(axis=1)
        logs -= sum(lgamma(count + 1) for count in y[t])
        joint = law * np.exp(logs - logs.max())
        total += np.log(joint.sum()) + logs.max()
        law = joint / joint.sum() @ transition
    assert scored["log_likelihood"] == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("extra", [[], ["--method", "batch"], ["--smoother", "forward"],
                                   ["--engine", "particle", "--smoother", "path"],
                                   ["--engine", "beam", "--beam-width", 8],
                                   ["--engine", "fast", "--prior", "gamma"],
                                   ["--engine", "fast", "--prior", "log-gaussian"],
                                   ["--proposal", "guided", "--engine", "particle"],
                                   ["--proposal", "guided", "--prior", "gamma"],
                                   ["--proposal", "guided", "--prior", "relaxed-selection"]],
                         ids=["online", "batch", "forward", "path", "beam", "fast gamma",
                              "fast log-gaussian", "guided", "guided gamma", "guided relaxed"])
def test_an_exposure_of_zero_is_a_missing_cell(headwater, simulated, extra):
    hidden = np.random.default_rng(7).random(simulated.shape) < 0.2
    missing = np.where(hidden, np.nan, simulated)
    headwater.write("missing.csv", as_csv(missing))
    headwater.write("zero.csv", as_csv(np.where(hidden, 0, 1)))
    fit = [*FIT, *extra, "--init", "random"]
    headwater("fit", "missing.csv", *fit, "--out", "missing.h5")
    headwater("fit", "counts.csv", *fit, "--exposure", "zero.csv", "--out", "zero.h5")
    np.testing.assert_allclose(headwater.basis("zero.h5"), headwater.basis("missing.h5"),
                               rtol=1e-9)


# Doubling the exposure halves the basis; a single column applies to all channels.
def test_one_exposure_for_all_channels(headwater, simulated):
    headwater.write("two.csv", as_csv(np.full((600, 1), 2.0)))
    start = headwater.load("basis.npy")
    headwater.save("half.npy", start / 2)
    headwater("fit", "counts.csv", *FIT, "--init", "basis.npy", "--out", "plain.h5")
    headwater("fit", "counts.csv", *FIT, "--init", "half.npy", "--exposure", "two.csv", "--out",
              "two.h5")
    np.testing.assert_allclose(2 * headwater.basis("two.h5"), headwater.basis("plain.h5"),
                               rtol=1e-6)


@pytest.mark.parametrize("exposures, words", [
    (np.ones((600, 3)), "e.csv: has 3 columns; expected 1 or 4, as counts.csv has channels"),
    (np.ones((10, 4)), "e.csv: ends after 10 rows; counts.csv has more"),
    (np.ones((601, 1)), "e.csv: has more rows than counts.csv, which ends after 600"),
    (-np.ones((600, 1)), "e.csv:1: column 1: '-1' is negative"),
])
def test_exposures_that_do_not_fit_are_named(headwater, simulated, exposures, words):
    headwater.write("e.csv", as_csv(exposures))
    done = headwater.attempt("fit", "counts.csv", *FIT, "--exposure", "e.csv", "--out", "model.h5")
    assert done.returncode == 1
    assert words in done.stderr.decode() and done.stderr.count(b"\n") == 1
