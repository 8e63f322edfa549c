"""Live from the first row: what is published of a row has seen nothing of the rows after it."""

import json
import subprocess

import numpy as np
import pytest

from support import TIMEOUT, as_csv

LENGTH = 150
# A light search after 50 rows, the last one after 110, and a race after each.
FIT = ("--components", 2, "--prior", "basis-selection", "--start-on", 110, "--particles", 40,
       "--quiet")

KINDS = {
    "exact": ["--prior", "basis-selection", "--engine", "exact"],
    "beam": ["--prior", "basis-selection", "--engine", "beam", "--beam-width", 3],
    "particle": ["--prior", "basis-selection", "--engine", "particle"],
    "relaxed": ["--prior", "relaxed-selection"],
    "log-gaussian": ["--prior", "log-gaussian", "--engine", "particle"],
    "fast log-gaussian": ["--prior", "log-gaussian", "--engine", "fast"],
    "gamma": ["--prior", "gamma", "--engine", "particle"],
    "fast gamma": ["--prior", "gamma", "--engine", "fast"],
    "independent": ["--prior", "independent"],
    "poisson": ["--counts", "poisson"],
    "negative binomial": ["--counts", "negative-binomial"],
    "drifting": ["--counts", "drifting"],
    "background": ["--background"],
    "season": ["--period", 7],
    "found season": ["--period", "auto"],
    "random": ["--init", "random"],
    "as printed": ["--paper-exact"],
}


@pytest.fixture
def rows(headwater):
    headwater("simulate", "--prior", "basis-selection", "--channels", 3, "--components", 2,
              "--counts", "negative-binomial", "--length", LENGTH, "--seed", 3, "--out",
              "counts.csv")
    return headwater.path("counts.csv").read_text().splitlines(keepends=True)


def log_of(headwater, data, *more):
    headwater("fit", data, *FIT, *more, "--out", "model.h5", "--surprise", "--log", "log.jsonl",
              "--activations", "x.csv")
    return headwater.path("log.jsonl").read_bytes(), headwater.path("x.csv").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_out_before_the_next_row_comes(headwater, rows, kind):
    """Row by row through a pipe: the next one is written when the line of the last one is read."""
    log, x = log_of(headwater, "counts.csv", *KINDS[kind])
    process = headwater.start("fit", "-", *FIT, *KINDS[kind], "--out", "piped.h5", "--surprise",
                              "--activations", "piped.csv", "--log", "-", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    lines = []
    for row in rows:
        process.stdin.write(row.encode())
        process.stdin.flush()
        lines.append(process.stdout.readline())  # or it would wait for ever
    assert process.communicate(timeout=TIMEOUT)[0] == b""
    assert process.returncode == 0
    assert b"".join(lines) == log
    assert headwater.path("piped.csv").read_bytes() == x
    assert headwater.path("piped.h5").read_bytes() == headwater.path("model.h5").read_bytes()


@pytest.mark.parametrize("kind", ["exact", "gamma"])
def test_cut_files_have_the_same_beginning(headwater, rows, kind):
    log, x = log_of(headwater, "counts.csv", *KINDS[kind])
    logs, xs = (text.splitlines(keepends=True) for text in (log, x))
    for cut in (1, 2, 33, 50, 64, 111):
        # What follows a cut does not matter, even if it is nothing like the stream before.
        headwater.write("cut.csv", "".join(rows[:cut]))
        headwater.write("other.csv", "".join(rows[:cut]) + "700,0,90\n" * 3)
        for name in "cut.csv", "other.csv":
            log, x = log_of(headwater, name, *KINDS[kind])
            assert log.splitlines(keepends=True)[:cut] == logs[:cut]
            assert x.splitlines(keepends=True)[:cut] == xs[:cut]


def test_lines_say_that_they_are_provisional(headwater, rows):
    log, _ = log_of(headwater, "counts.csv")
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["provisional"] for line in lines] == [True] * 50 + [False] * 100
    assert [line["in_start"] for line in lines] == [True] * 110 + [False] * 40
    facts = headwater.facts("model.h5")
    logarithms = [line["log_predictive"] for line in lines]
    assert facts["log_likelihood"] == pytest.approx(sum(logarithms), rel=1e-12)
    assert facts["observations_after_start"] == 40
    assert facts["log_likelihood_after_start"] == pytest.approx(sum(logarithms[110:]), rel=1e-12)
    # With a basis that is given, nothing is.
    headwater.save("basis.npy", np.ones((3, 2)))
    log, _ = log_of(headwater, "counts.csv", "--init", "basis.npy")
    lines = [json.loads(line) for line in log.splitlines()]
    assert not any(line["provisional"] or line["in_start"] for line in lines)


@pytest.mark.parametrize("kind", ["exact", "gamma", "season", "random"])
def test_what_was_published_is_never_written_anew(headwater, rows, kind):
    """Cut off and resumed, again and again: the files grow, and end as those of one run."""
    log, x = log_of(headwater, "counts.csv", *KINDS[kind])
    model = headwater.path("model.h5").read_bytes()
    more = ["--surprise", "--log", "l.jsonl", "--activations", "y.csv", "--out", "m.h5"]
    for i, cut in enumerate((1, 50, 56, 110, 125, LENGTH)):
        headwater.write("part.csv", "".join(rows[:cut]))
        headwater("fit", "part.csv", *FIT, *KINDS[kind], *more, "--checkpoint", "state",
                  *(["--resume", "state"] if i > 0 else []))
        assert headwater.path("l.jsonl").read_bytes() == b"".join(
            log.splitlines(keepends=True)[:cut])
        assert headwater.path("y.csv").read_bytes() == b"".join(x.splitlines(keepends=True)[:cut])
    assert headwater.path("m.h5").read_bytes() == model


def test_the_first_row_is_not_predicted_from_itself(headwater):
    """When nothing is known, a count n has the probability 1 / ((n + 1) (n + 2))."""
    headwater.write("one.csv", "7,0,1000\n")
    log, x = log_of(headwater, "one.csv")
    line = json.loads(log)
    expected = -np.log([8 * 9, 1 * 2, 1001 * 1002]).sum()
    assert line["log_predictive"] == pytest.approx(expected, rel=1e-12)
    assert line["surprise"] == pytest.approx(-expected, rel=1e-12)
    assert line["tail_probability"] == 1
    assert len(x.split(b",")) == 4


@pytest.mark.parametrize("first", ["0,0,0\n", "NA,NA,NA\n"])
def test_a_stream_that_begins_with_nothing(headwater, rows, first):
    headwater.write("late.csv", first * 20 + "".join(rows))
    log, _ = log_of(headwater, "late.csv")
    lines = [json.loads(line) for line in log.splitlines()]
    assert len(lines) == 170
    assert all(np.isfinite(line["log_predictive"]) for line in lines)
    assert (headwater.basis("model.h5") > 0).all()


def test_threads_do_not_matter(headwater, rows):
    more = ["--prior", "gamma", "--engine", "particle", "--particles", 600]
    assert log_of(headwater, "counts.csv", *more, "--threads", 1) == log_of(
        headwater, "counts.csv", *more, "--threads", 2)
