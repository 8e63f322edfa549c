"""Several numbers of components: all fits in one pass, and the choice among them."""

import json

import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import as_csv, batch_error

BASIS = np.array([[8, 0, 1], [0, 7, 1], [6, 1, 0], [0, 0, 9], [1, 5, 0], [3, 0, 5.0]])
OPTIONS = "--prior", "basis-selection", "--start-on", 400, "--counts", "poisson"
LENGTH = 1600


@pytest.fixture
def data(headwater):
    y = simulate(selection_chain(3, 0.8, 0.7), BASIS, LENGTH, 41)
    return headwater.write("y.csv", as_csv(y))


def predictions(headwater, components):
    """log p of each observation after the start, by a fit with this many components alone."""
    headwater("fit", "y.csv", "--components", components, *OPTIONS, "--log", "log", "--out",
              f"{components}.h5")
    lines = [json.loads(line) for line in headwater.path("log").read_text().splitlines()]
    return np.array([line["log_predictive"] for line in lines if not line["in_start"]])


def test_the_table_is_that_of_separate_fits(headwater, data):
    headwater("fit", data, "--components", "2..4", *OPTIONS, "--out", "set.h5")
    facts = headwater.facts("set.h5")
    table = facts["choice_of_components"]
    alone = {k: predictions(headwater, k) for k in (2, 3, 4)}
    best = max(alone, key=lambda k: alone[k].mean())
    assert [row["components"] for row in table] == [2, 3, 4]
    for row in table:
        found = alone[row["components"]]
        assert row["score"] == pytest.approx(found.mean(), rel=1e-12)
        gap = found - alone[best]
        assert row["standard_error"] == pytest.approx(batch_error(gap) if gap.any() else 0)
    assert [row["components"] for row in table if row["chosen"]] == [3]
    assert facts["components"] == 3


def test_the_model_is_that_of_the_fit_alone(headwater, data):
    headwater("fit", data, "--components", "4,2,3", *OPTIONS, "--out", "set.h5")
    headwater("fit", data, "--components", 3, *OPTIONS, "--out", "alone.h5")
    assert headwater("show", "set.h5", "--basis") == headwater("show", "alone.h5", "--basis")
    together, alone = headwater.facts("set.h5"), headwater.facts("alone.h5")
    assert len(together.pop("choice_of_components")) == 3
    assert together == alone


def test_threads_change_nothing(headwater, data):
    for threads in 1, 3:
        headwater("fit", data, "--components", "2..4", *OPTIONS, "--threads", threads, "--out",
                  f"{threads}.h5")
    assert headwater.path("1.h5").read_bytes() == headwater.path("3.h5").read_bytes()


def test_the_whole_set_is_put_away_and_goes_on(headwater, data):
    headwater("fit", data, "--components", "2..4", *OPTIONS, "--out", "whole.h5")
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    for rows in 100, 1000:
        headwater.write("part.csv", "".join(lines[:rows]))
        headwater("fit", "part.csv", "--components", "2..4", *OPTIONS, "--checkpoint", "state",
                  "--out", "part.h5")
        headwater("fit", data, "--components", "2..4", *OPTIONS, "--resume", "state", "--out",
                  "resumed.h5")
        assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    done = headwater.attempt("fit", data, "--components", "2..5", *OPTIONS, "--resume", "state",
                             "--out", "other.h5")
    assert done.returncode == 1
    assert b"numbers of components 2,3,4" in done.stderr


def test_the_table_is_shown(headwater, data):
    done = headwater.attempt("fit", data, "--components", "2..3", *OPTIONS, "--out", "set.h5")
    shown = headwater("show", "set.h5").decode()
    for text in done.stderr.decode(), shown:
        assert "the best, chosen" in text
        assert "within one standard error" in text


@pytest.mark.parametrize("arguments, words", [
    (["--components", "4..2"], "--components 4..2: expected a range such as 2..8"),
    (["--components", "2,3,2"], "--components 2,3,2: expected"),
    (["--components", "2.."], "--components 2..: expected"),
    (["--components", "1..65"], "at most 64 of them"),
    (["--components", "0"], "--components 0: expected a whole number from 1 to 65536"),
    (["--components", "2..3", "--restarts", 2], "--restarts needs one number of --components"),
    (["--components", "2..3", "--method", "batch"], "--method batch makes none"),
    (["--components", "2..3", "--log", "log"], "--log describes one fit"),
    (["--components", "2..3", "--init", "b.csv"], "needs one number of --components"),
])
def test_what_cannot_be_chosen_from_is_refused(headwater, data, arguments, words):
    headwater.write("b.csv", as_csv(BASIS))
    done = headwater.attempt("fit", data, *arguments, "--prior", "basis-selection", "--out",
                             "set.h5")
    message = done.stderr.decode()
    assert (done.returncode, message.count("\n")) == (2, 1)
    assert words in message


def test_the_memory_of_all_fits_is_counted(headwater, data):
    """Each alone would be within the limit."""
    done = headwater.attempt("fit", data, "--components", "2,3", "--prior", "relaxed-selection",
                             "--particles", 4_000_000, "--out", "set.h5", "--quiet")
    message = done.stderr.decode()
    assert (done.returncode, message.count("\n")) == (2, 1)
    assert "2 fits side by side would need about" in message
    assert "GB of memory" in message
