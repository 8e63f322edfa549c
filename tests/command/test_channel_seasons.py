"""Channels with a season of their own: learned by default, shown, held, saved, predicted with."""

import json

import numpy as np
import pytest

FIT = "--components", "1", "--prior", "gamma", "--engine", "fast", "--counts", "poisson", "--quiet"
PERIOD = 6
CHANNELS = 8
MEAN = 4.0


def timetables():
    """Each channel is busy at two phases of its own. Rows have the mean 1."""
    gains = np.full((CHANNELS, PERIOD), 0.4)
    for m in range(CHANNELS):
        gains[m, m % PERIOD] = gains[m, (m * 3 + 1) % PERIOD] = 2.2
    return gains / gains.mean(axis=1, keepdims=True)


def counts(gains, length, seed):
    """One source that is more or less active, and Poisson counts around it."""
    draws = np.random.default_rng(seed)
    activity = 1.0
    rows = []
    for t in range(length):
        activity = draws.gamma(20, (0.8 * activity + 0.2) / 20)
        rows.append(draws.poisson(MEAN * activity * gains[:, t % PERIOD]))
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def stream(headwater):
    headwater.write("y.csv", counts(timetables(), 3000, 1))
    return "y.csv"


def gains_of(headwater, model):
    text = headwater("show", model, "--channel-profile").decode()
    return np.array([[float(cell) for cell in line.split(",")] for line in text.splitlines()])


def fitted(headwater, data, *options, out="m.h5"):
    headwater("fit", data, *FIT, "--period", str(PERIOD), *options, "--out", out)
    return out


def test_timetables_are_found_and_shown(headwater, stream):
    model = fitted(headwater, stream)
    found = gains_of(headwater, model)
    facts = json.loads(headwater("show", model, "--json"))
    profile = np.array(facts["periods"][0]["profile"][0])
    assert np.array_equal(facts["periods"][0]["channel_profile"], found)
    assert "gains of single channels from" in headwater("show", model).decode()
    # A channel's season is the component's times its own. 500 visits of at least 1.6 counts: a gain
    # is known to 4 % (one standard error); 48 of them are within 5.8 but for one time in 10^6.
    season = found * profile
    season /= season.mean(axis=1, keepdims=True)
    assert np.abs(season / timetables() - 1).max() < 0.25


def test_predictions_follow_them(headwater, stream):
    model = fitted(headwater, stream)
    held = fitted(headwater, stream, "--hold", "channel_profile", out="held.h5")
    headwater.write("more.csv", counts(timetables(), 600, 2))

    def score(name):
        return json.loads(headwater("score", name, "more.csv", "--json", "--quiet"))["log_likelihood"]

    assert score(model) > score(held) + 1000  # .2 nats a cell
    headwater("forecast", model, "more.csv", "--horizon", "6", "--out", "ahead.csv", "--quiet")
    lines = headwater.path("ahead.csv").read_text().splitlines()[1:]
    means = np.array([float(line.split(",")[2]) for line in lines]).reshape(6, CHANNELS)
    busy = timetables().T > 1.2  # the first step ahead has the phase 600 mod 6 = 0
    assert means[busy].min() > means[~busy].max()
    headwater("score", model, "more.csv", "--out", "s.csv", "--surprise", "--quiet")
    tails = np.loadtxt(headwater.path("s.csv"), delimiter=",", skiprows=0, usecols=1)
    # p-values of 600 rows: with gains left out of the draws, next to all would be below .01. With
    # them 1 % are; 4 % and more with probability below 1e-8.
    assert np.mean(tails < 0.01) < 0.04


def test_a_stream_without_them_is_fitted_as_if_they_were_held(headwater):
    headwater.write("flat.csv", counts(np.tile([1.8, 0.2, 1, 1, 1, 1], (CHANNELS, 1)), 1500, 3))
    model = fitted(headwater, "flat.csv", "--log", "log")
    held = fitted(headwater, "flat.csv", "--hold", "channel_profile", "--log", "held.log",
                  out="held.h5")
    assert headwater.path("log").read_bytes() == headwater.path("held.log").read_bytes()
    for name in model, held:
        assert "channel_profile" not in json.loads(headwater("show", name, "--json"))["periods"][0]
        done = headwater.attempt("show", name, "--channel-profile")
        assert done.returncode == 1 and b"no gains of their own" in done.stderr


def test_resumed_in_the_middle_of_a_period(headwater, stream):
    lines = headwater.path(stream).read_text().splitlines(keepends=True)
    headwater.write("half.csv", "".join(lines[:2003]))
    headwater.write("b.csv", "4\n" * CHANNELS)
    fitted(headwater, stream, "--init", "b.csv", out="whole.h5")
    fitted(headwater, "half.csv", "--init", "b.csv", "--checkpoint", "c", out="half.h5")
    fitted(headwater, stream, "--init", "b.csv", "--resume", "c", out="resumed.h5")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    assert gains_of(headwater, "whole.h5").shape == (CHANNELS, PERIOD)


@pytest.mark.parametrize("options", [("--hold", "profile"), ("--method", "batch")])
def test_where_they_are_not_learned(headwater, options):
    headwater.write("y.csv", counts(timetables(), 300, 4))
    headwater("fit", "y.csv", "--components", "1", "--prior", "basis-selection", "--counts",
              "poisson", "--quiet", "--period", str(PERIOD), *options, "--out", "m.h5")
    assert "channel_profile" not in json.loads(headwater("show", "m.h5", "--json"))["periods"][0]


def test_holding_them_needs_a_period(headwater, stream):
    done = headwater.attempt("fit", stream, *FIT, "--hold", "channel_profile", "--out", "m.h5")
    assert done.returncode in (1, 2)
    assert "has no parameter 'channel_profile' to hold" in done.stderr.decode()


def test_drifting_levels_and_gains(headwater, stream):
    model = fitted(headwater, stream, "--counts", "drifting")
    assert gains_of(headwater, model).max() > 1.5
