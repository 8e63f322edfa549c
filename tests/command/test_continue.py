"""A finished model goes on: fit --continue MODEL, fit --init MODEL, --forget."""

import json

import numpy as np
import pytest

from support import as_csv

ROWS, HALF = 600, 350
MODEL = ["--components", 2, "--prior", "basis-selection"]


@pytest.fixture(scope="module")
def halves(shared_headwater):
    """whole.csv, first.csv and second.csv, and first.h5, the model of the first half."""
    command = shared_headwater
    command("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2,
            "--length", ROWS, "--seed", 3, "--out", "whole.csv")
    rows = command.load("whole.csv")
    command.write("first.csv", as_csv(rows[:HALF]))
    command.write("second.csv", as_csv(rows[HALF:]))
    command("fit", "first.csv", *MODEL, "--out", "first.h5")
    return command


def logged(command, name):
    return [json.loads(line) for line in command.path(name).read_text().splitlines()]


def error_of(command, *arguments):
    done = command.attempt("fit", "second.csv", *arguments, "--out", "refused.h5")
    assert done.returncode != 0 and not command.path("refused.h5").exists()
    return done.returncode, done.stderr.decode()


def test_everything_adds_up(halves):
    done = halves.attempt("fit", "second.csv", "--continue", "first.h5", "--log", "second.log",
                          "--out", "both.h5")
    assert done.returncode == 0
    assert f"{ROWS} observations with those of the continued model" in done.stderr.decode()
    before, after = halves.facts("first.h5"), halves.facts("both.h5")
    assert after["observations"] == ROWS and after["components"] == 2
    lines = logged(halves, "second.log")
    assert [line["t"] for line in lines] == list(range(HALF + 1, ROWS + 1))
    new = sum(line["log_predictive"] for line in lines)
    assert after["log_likelihood"] == pytest.approx(before["log_likelihood"] + new, rel=1e-9)
    assert max(halves.trace("both.h5")["t"]) == ROWS


def test_going_on_is_as_good_as_one_fit_and_better_than_frozen(halves):
    halves("fit", "whole.csv", *MODEL, "--start-on", HALF, "--log", "whole.log", "--out", "whole.h5")
    halves("fit", "second.csv", "--continue", "first.h5", "--log", "on.log", "--out", "on.h5")
    one_go = np.mean([line["log_predictive"] for line in logged(halves, "whole.log")[HALF:]])
    going_on = np.mean([line["log_predictive"] for line in logged(halves, "on.log")])
    halves("score", "first.h5", "whole.csv", "--out", "frozen.csv")
    frozen = np.mean(halves.load("frozen.csv")[HALF:, 0])
    assert going_on > one_go - 0.01
    assert going_on > frozen - 0.01
    assert np.abs(halves.basis("on.h5") - halves.basis("whole.h5")).max() < 0.5


@pytest.mark.parametrize("how", ["file", "pipe"])
def test_the_same_bytes_from_a_file_and_a_pipe_and_resumed(halves, how):
    halves("fit", "second.csv", "--continue", "first.h5", "--out", "plain.h5")
    if how == "pipe":
        halves("fit", "-", "--continue", "first.h5", "--out", "other.h5",
               given=halves.path("second.csv").read_bytes())
    else:
        rows = halves.path("second.csv").read_text().splitlines(keepends=True)
        halves.write("part.csv", "".join(rows[:101]))
        halves("fit", "part.csv", "--continue", "first.h5", "--checkpoint", "c", "--out", "part.h5")
        halves("fit", "second.csv", "--continue", "first.h5", "--resume", "c", "--out", "other.h5")
    assert halves.path("other.h5").read_bytes() == halves.path("plain.h5").read_bytes()


def test_data_that_do_not_follow_on(halves):
    halves("fit", "second.csv", "--init", "first.h5", "--log", "other.log", "--out", "other.h5")
    halves("fit", "second.csv", "--continue", "first.h5", "--log", "next.log", "--out", "next.h5")
    assert halves.facts("other.h5")["observations"] == ROWS
    other, following = logged(halves, "other.log"), logged(halves, "next.log")
    assert other[0]["log_predictive"] != following[0]["log_predictive"]


def test_forgetting_makes_steps_larger(halves):
    halves("fit", "second.csv", "--continue", "first.h5", "--log", "all.log", "--out", "x.h5")
    halves("fit", "second.csv", "--continue", "first.h5", "--forget", 20, "--log", "few.log",
           "--out", "x.h5")
    assert logged(halves, "all.log")[0]["step"] == pytest.approx(1 / HALF, rel=0.01)
    assert logged(halves, "few.log")[0]["step"] == pytest.approx(1 / 20, rel=0.1)


def test_a_batch_model_and_one_of_restarts_go_on(halves):
    for how in (["--method", "batch"], ["--restarts", 2]):
        halves("fit", "first.csv", *MODEL, *how, "--out", "begun.h5")
        halves("fit", "second.csv", "--continue", "begun.h5", "--out", "gone_on.h5")
        assert halves.facts("gone_on.h5")["observations"] == ROWS
        assert halves.facts("gone_on.h5")["method"] == "online"


def test_a_few_rows_are_learned_from(halves):
    halves.write("few.csv", as_csv(halves.load("second.csv")[:3]))
    halves("fit", "few.csv", "--continue", "first.h5", "--out", "few.h5")
    assert (halves.basis("few.h5", "--last") != halves.basis("first.h5", "--last")).any()


@pytest.mark.parametrize("arguments, code, message", [
    (["--components", 7], 2, "components is 7; the model that is continued has 2"),
    (["--prior", "gamma"], 2, "prior is gamma; the model that is continued has basis-selection"),
    (["--counts", "drifting"], 2, "counts is drifting; the model that is continued has poisson"),
    (["--method", "batch"], 2, "method batch cannot continue a model"),
    (["--restarts", 3], 2, "restarts cannot go with a model that is continued"),
    (["--set", "stay_on=0.5"], 2, "--set cannot go with a model that is continued"),
    (["--burn-in", 5], 2, "--burn-in cannot go with a model that is continued"),
    (["--init", "random"], 2, "--init cannot go with a model that is continued"),
])
def test_what_the_model_is_cannot_be_changed(halves, arguments, code, message):
    found, text = error_of(halves, "--continue", "first.h5", *arguments)
    assert found == code and text.count("\n") == 1 and message in text


def test_other_mistakes(halves):
    assert error_of(halves, *MODEL, "--forget", 5) == (
        2, "headwater: --forget needs a model that is continued: --continue MODEL\n")
    code, text = error_of(halves, "--continue", "missing.h5")
    assert code == 1 and text.startswith("headwater: missing.h5: ")
    code, text = error_of(halves, "--continue", "first.csv")
    assert code == 1 and "first.csv: is not a headwater model" in text
    halves.write("narrow.csv", as_csv(np.ones((5, 3))))
    done = halves.attempt("fit", "narrow.csv", "--continue", "first.h5", "--out", "refused.h5")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "headwater: narrow.csv: has 3 channels; first.h5 was fitted to 4\n")


def test_the_model_may_be_replaced_by_its_continuation(halves):
    halves("fit", "first.csv", *MODEL, "--out", "live.h5")
    halves("fit", "second.csv", "--continue", "live.h5", "--out", "live.h5")
    assert halves.facts("live.h5")["observations"] == ROWS
