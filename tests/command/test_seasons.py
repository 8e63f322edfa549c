"""Seasons: --period, --phase, --profile, --hold profile, checkpoints, errors."""

import json

import pytest

FIT = "--components", "2", "--prior", "basis-selection", "--counts", "poisson", "--quiet"


@pytest.fixture
def stream(headwater):
    headwater.write("profile.csv", "0.5,2,0.5,1\n1.6,0.4,1,1\n")
    headwater("simulate", "--prior", "basis-selection", "--channels", "4", "--components", "2",
              "--period", "4", "--profile", "profile.csv", "--length", "3000", "--seed", "2",
              "--out", "y.csv", "--save-basis", "b.csv", "--quiet")
    return "y.csv"


def profile_of(headwater, model, *options):
    text = headwater("show", model, "--profile", *options).decode()
    return [[float(cell) for cell in line.split(",")] for line in text.splitlines()]


def test_the_profile_is_found_and_shown(headwater, stream):
    headwater("fit", stream, *FIT, "--period", "4", "--out", "m.h5")
    found = profile_of(headwater, "m.h5")
    assert [len(row) for row in found] == [4, 4]
    truth = [[0.5, 2, 0.5, 1], [1.6, 0.4, 1, 1]]
    # 750 visits of some ten counts to each phase: gains are known to two per cent or so.
    for row in truth:
        assert min(max(abs(a - b) for a, b in zip(row, other)) for other in found) < 0.15
    facts = json.loads(headwater("show", "m.h5", "--json"))
    assert [entry["period"] for entry in facts["periods"]] == [4]
    assert facts["periods"][0]["profile"] == found


@pytest.mark.parametrize("options", [(), ("--engine", "particle", "--particles", "50"),
                                     ("--engine", "beam")])
def test_resume_in_the_middle_of_a_period(headwater, stream, options):
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    headwater.write("half.csv", "".join(lines[:1501]))
    fit = (*FIT, "--period", "4", "--init", "b.csv", *options)
    headwater("fit", stream, *fit, "--out", "whole.h5")
    headwater("fit", "half.csv", *fit, "--checkpoint", "c", "--out", "half.h5")
    headwater("fit", stream, *fit, "--resume", "c", "--out", "resumed.h5")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_the_phase_of_other_data(headwater, stream):
    headwater("fit", stream, *FIT, "--period", "4", "--out", "m.h5")
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    headwater.write("later.csv", "".join(lines[1002:]))  # begins at phase 2

    def score(*options):
        return json.loads(headwater("score", "m.h5", "later.csv", "--json", *options,
                                    "--quiet"))["log_likelihood"]

    assert score("--phase", "2") > score() + 100
    assert score("--phase", "6") == score("--phase", "2")


def test_held_profiles_stay_flat(headwater, stream):
    headwater("fit", stream, *FIT, "--period", "4", "--hold", "profile", "--out", "m.h5")
    assert profile_of(headwater, "m.h5") == [[1.0] * 4] * 2


def test_two_periods(headwater, stream):
    headwater("fit", stream, *FIT, "--period", "4", "--period", "6", "--out", "m.h5")
    assert len(profile_of(headwater, "m.h5", "--period", "6")[0]) == 6
    done = headwater.attempt("show", "m.h5", "--profile")
    assert done.returncode == 2 and "say which with --period" in done.stderr.decode()


@pytest.mark.parametrize("seed", ["5", "6"])
def test_a_period_that_is_not_there_costs_next_to_nothing(headwater, seed):
    headwater("simulate", "--prior", "basis-selection", "--channels", "6", "--components", "2",
              "--length", "5000", "--seed", seed, "--out", "flat.csv", "--quiet")

    def fitted(*options):
        headwater("fit", "flat.csv", *FIT, *options, "--out", "m.h5")
        facts = json.loads(headwater("show", "m.h5", "--json"))
        cells = 6 * facts["observations_after_start"]
        return facts["log_likelihood_after_start"] / cells, facts["periods"]

    without, _ = fitted()
    asked, periods = fitted("--period", "12")
    assert asked > without - 0.001  # nats a cell
    # A raw gain, of some 2,800 counts, has the standard error .019; gains are drawn to 1 from there.
    assert max(abs(gain - 1) for row in periods[0]["profile"] for gain in row) < 3 * 0.019
    assert "channel_profile" not in periods[0]


@pytest.mark.parametrize("options, words", [
    (("--period", "1"), "expected a number of observations from 2 to 100000"),
    (("--period", "often"), "expected a number of observations from 2 to 100000"),
    (("--period", "4h"), "the rows have no times"),
    (("--period", "4", "--smoother", "forward"), "a period cannot go with smoother forward"),
    (("--period", "4", "--paper-exact"), "a period cannot go with paper-exact"),
    (("--hold", "profile"), "has no parameter 'profile' to hold"),
])
def test_what_cannot_be(headwater, stream, options, words):
    done = headwater.attempt("fit", stream, *FIT, *options, "--out", "m.h5")
    assert done.returncode in (1, 2)
    assert words in done.stderr.decode() and len(done.stderr.strip().splitlines()) == 1
