"""Fits by rounds: sequences that start from the same parameters, with one M-step after each round."""

import json

import numpy as np
import pytest

from test_sequences import BASIS, STAY_OFF, STAY_ON, fit, labelled, trials

HELD = ["--prior", "basis-selection", "--counts", "poisson"]


@pytest.fixture
def start(headwater):
    return headwater.save("start.npy", BASIS * [[1.2, 0.8, 1.1]])


@pytest.mark.parametrize("engine", [
    ["--prior", "basis-selection"], ["--prior", "basis-selection", "--smoother", "forward"],
    ["--prior", "basis-selection", "--engine", "beam"],
    ["--prior", "gamma", "--engine", "fast"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "lag"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "path"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "paris"],
    ["--prior", "gamma", "--particles", 30, "--smoother", "forward"],
    ["--prior", "log-gaussian", "--particles", 60, "--proposal", "guided"],
    ["--prior", "basis-selection", "--counts", "drifting"]],
    ids=lambda options: "-".join(map(str, options[1::2])))
def test_threads_and_a_break_change_no_byte(headwater, start, engine):
    lines = labelled(trials(20, 23)).splitlines(keepends=True)
    headwater.write("all.csv", "".join(lines))
    headwater.write("part.csv", "".join(lines[:1 + 10 * 23 + 11]))  # in the eleventh trial
    options = ["--round", 4, "--sequence-column", "trial", "--init", start, *engine]
    if "--counts" not in engine:
        options += ["--counts", "poisson"]
    wanted = fit(headwater, "all.csv", "m.h5", *options)
    assert fit(headwater, "all.csv", "m.h5", *options, "--threads", 3) == wanted
    fit(headwater, "part.csv", "part.h5", *options, "--checkpoint", "c.ckpt", "--threads", 2)
    assert fit(headwater, "all.csv", "m.h5", *options, "--resume", "c.ckpt") == wanted
    assert fit(headwater, "all.csv", "m.h5", *options, "--round", 5) != wanted
    facts = headwater.facts("m.h5")
    assert facts["options"]["round"] == "5" and facts["observations"] == 460


def test_starts_laws_and_seasons(headwater):
    """With everything that a search decides; the break is in the search's own observations, then
    after it."""
    counts = trials(60, 24)
    lines = labelled(counts).splitlines(keepends=True)
    headwater.write("all.csv", "".join(lines))
    options = ["--round", 6, "--sequence-column", "trial", "--start-on", 500, "--period", 8, "--standard-errors"]
    wanted = fit(headwater, "all.csv", "m.h5", *options)
    for rows in 250, 900:
        headwater.write("part.csv", "".join(lines[:1 + rows]))
        fit(headwater, "part.csv", "part.h5", *options, "--checkpoint", "c.ckpt")
        assert fit(headwater, "all.csv", "m.h5", *options, "--resume", "c.ckpt") == wanted, rows


def test_each_row_is_logged_once_under_the_parameters_before_its_round(headwater, start):
    """A round as long as the data: every row is predicted with what the fit started from."""
    counts = trials(12, 20)
    headwater.save("a.npy", counts)
    held = ["--hold", "basis", "--hold", "stay_off", "--hold", "stay_on", *HELD, "--init", start,
            "--set", f"stay_off={STAY_OFF}", "--set", f"stay_on={STAY_ON}"]
    fit(headwater, "a.npy", "held.h5", *held)
    truth = headwater.score("held.h5", "a.npy")["log_likelihood"]
    fit(headwater, "a.npy", "m.h5", *HELD, "--init", start, "--set", f"stay_off={STAY_OFF}",
        "--set", f"stay_on={STAY_ON}", "--round", 12, "--log", "log.jsonl",
        "--activations", "x.csv")
    log = [json.loads(line) for line in headwater.path("log.jsonl").read_text().splitlines()]
    assert [row["t"] for row in log] == list(range(1, 241))
    assert abs(sum(row["log_predictive"] for row in log) - truth) < 1e-8
    assert abs(headwater.facts("m.h5")["log_likelihood"] - truth) < 1e-8
    assert headwater.facts("m.h5")["iterations"] == 1
    headwater("apply", "held.h5", "a.npy", "--out", "held.csv")
    np.testing.assert_allclose(headwater.load("x.csv"), headwater.load("held.csv"), atol=1e-9)


def test_a_fit_by_rounds_teaches_as_much_as_one_without(headwater):
    """200 trials of 40 steps, rounds of 8. From seed to seed the error of the basis has a relative
    standard deviation of .3, so the ratio of the means of 20 has a standard error of .095 at most
    (less, since both see the same data). Were it 1, it would be above 1.45 with probability 1e-6."""
    errors = {0: [], 8: []}
    for seed in range(20):
        headwater.save("a.npy", trials(200, 40, seed))
        for size in errors:
            fit(headwater, "a.npy", "m.h5", *HELD, "--round", size)
            found = headwater.basis("m.h5")
            order = [np.argmin(((found - BASIS[:, [k]]) ** 2).sum(axis=0)) for k in range(3)]
            errors[size].append(np.sqrt(((found[:, order] - BASIS) ** 2).mean()))
    assert np.mean(errors[8]) < 1.45 * np.mean(errors[0])


def test_rounds_go_on(headwater, start):
    counts = trials(40, 20)
    headwater.save("all.npy", counts)
    headwater.save("early.npy", counts[:20])
    headwater.save("late.npy", counts[20:])
    options = [*HELD, "--init", start, "--round", 5, "--step", "power:0.7"]
    fit(headwater, "all.npy", "m.h5", *options)
    fit(headwater, "early.npy", "early.h5", *options)
    headwater("fit", "late.npy", "--continue", "early.h5", "--out", "late.h5", "--quiet")
    assert headwater.facts("late.h5")["observations"] == 800
    np.testing.assert_allclose(headwater.basis("late.h5", "--last"), headwater.basis("m.h5", "--last"),
                               rtol=1e-9)
    done = headwater.attempt("fit", "late.npy", "--continue", "early.h5", "--out", "late.h5",
                             "--round", 6)
    assert done.returncode == 2
    assert "round is 6; the model that is continued has 5" in done.stderr.decode()


def test_several_numbers_of_components_and_restarts(headwater):
    headwater.save("a.npy", trials(60, 20))
    headwater("fit", "a.npy", "--components", "2..4", "--prior", "basis-selection", "--counts",
              "poisson", "--round", 6, "--start-on", 300, "--out", "m.h5", "--threads", 2)
    assert len(headwater.facts("m.h5")["choice_of_components"]) == 3
    wanted = fit(headwater, "a.npy", "m.h5", *HELD, "--round", 6, "--start-on", 300,
                 "--restarts", 2)
    assert fit(headwater, "a.npy", "m.h5", *HELD, "--round", 6, "--start-on", 300,
               "--restarts", 2, "--threads", 2) == wanted


@pytest.mark.parametrize("options, message", [
    (["--method", "batch"], "round cannot go with method batch, which takes all sequences at once"),
    (["--paper-exact"], "round cannot go with paper-exact, which makes an M-step at each observation"),
    (["--log", "l", "--surprise"], "--surprise needs the prediction of each observation"),
    (["--round", -1], "--round -1"),
])
def test_what_cannot_go_with_rounds(headwater, options, message):
    headwater.save("a.npy", trials(6, 5))
    done = headwater.attempt("fit", "a.npy", "--components", 2, "--prior", "basis-selection",
                             "--round", 2, "--out", "m.h5", *options)
    assert done.returncode == 2 and message in done.stderr.decode()
    assert done.stderr.decode().count("\n") == 1
