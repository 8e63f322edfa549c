"""Alarms: headwater watch, and what --surprise says of channels."""

import json
import math
import subprocess

import numpy as np
import pytest

from support import TIMEOUT, as_csv, settings

NAMES = ["north", "east", "south", "west", "centre", "port"]
STAYS = dict(stay_off=0.9, stay_on=0.8)


@pytest.fixture
def stream(headwater):
    """1,000 rows of six channels with names, and a model with the parameters they come from."""
    headwater("simulate", "--prior", "basis-selection", *settings(**STAYS), "--channels", 6,
              "--components", 3, "--length", 1000, "--seed", 5, "--out", "counts.npy",
              "--save-basis", "basis.npy")
    y = headwater.load("counts.npy")
    write(headwater, "y.csv", y)
    headwater("fit", "y.csv", "--components", 3, "--prior", "basis-selection", "--counts",
              "poisson", *settings(**STAYS), "--init", "basis.npy", "--hold", "basis", "--hold",
              "stay_off", "--hold", "stay_on", "--out", "model.h5", "--quiet")
    return y


def write(headwater, name, y):
    headwater.write(name, ",".join(NAMES) + "\n" + as_csv(y))


def watch(headwater, *arguments):
    lines = headwater("watch", "model.h5", *arguments, "--quiet").splitlines()
    return [json.loads(line) for line in lines]


def test_an_alarm_names_the_channel(headwater, stream):
    stream[700, 3] += 60
    write(headwater, "strange.csv", stream)
    alarms = watch(headwater, "strange.csv", "--alarms-per", "1000:1")
    alarm = next(alarm for alarm in alarms if alarm["t"] == 701)
    assert alarm["p"] <= 1e-3
    assert alarm["p_channels"] < 1e-6
    worst = alarm["channels"][0]
    assert worst["name"] == "west" and worst["seen"] == stream[700, 3]
    assert worst["expected"] < 30 and worst["p"] < 1e-6
    assert set(alarm) == {"t", "p", "p_row", "p_total", "p_channels", "total", "channels"}
    assert alarm["total"]["seen"] == stream[700].sum()


def test_an_alarm_for_the_total(headwater, stream):
    stream[800] *= 6
    write(headwater, "strange.csv", stream)
    rows = watch(headwater, "strange.csv", "--every-row")
    assert len(rows) == 1000
    loud = int(np.argmax(stream.sum(axis=1))) + 1
    assert rows[loud - 1]["p_total"] < 1e-4


def test_false_alarms_are_as_rare_as_asked(headwater, stream):
    """20 expected in 1,000 rows; more than 48 with probability 1e-7 (Poisson)."""
    assert len(watch(headwater, "y.csv", "--alarms-per", "100:2")) <= 48
    rows = watch(headwater, "y.csv", "--every-row", "--alarms-per", "100:2")
    assert [row["t"] for row in rows] == list(range(1, 1001))
    assert [row for row in rows if row["alarm"]] == [
        {**row, "alarm": True} for row in watch(headwater, "y.csv", "--alarms-per", "100:2")]


def test_a_silent_channel(headwater, stream):
    stream[800:900, 1] = 0
    write(headwater, "strange.csv", stream)
    rows = watch(headwater, "strange.csv", "--every-row")
    assert rows[899]["channels"][0]["name"] == "east"
    assert rows[899]["channels"][0]["rows"] >= 100
    assert rows[899]["p_channels"] < 1e-6


def test_a_line_leaves_with_its_row(headwater, stream):
    """From a pipe, and the same lines as from a file."""
    process = headwater.start("watch", "model.h5", "-", "--every-row", "--quiet",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write((",".join(NAMES) + "\n").encode())
    lines = []
    for row in stream[:50]:
        process.stdin.write(as_csv([row]).encode())
        process.stdin.flush()
        lines.append(json.loads(process.stdout.readline()))  # or it would wait for ever
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert lines == watch(headwater, "y.csv", "--every-row")[:50]


def test_times_are_in_alarms(headwater, stream):
    lines = [f"2024-01-01 {t // 60:02}:{t % 60:02},{','.join(str(int(v)) for v in row)}"
             for t, row in enumerate(stream[:20])]
    headwater.write("timed.csv", "\n".join(["when," + ",".join(NAMES), *lines]) + "\n")
    rows = watch(headwater, "timed.csv", "--time-column", "when", "--every-row")
    assert rows[4]["time"].startswith("2024-01-01T00:04") or "00:04" in rows[4]["time"]


def test_the_summary_says_how_many(headwater, stream):
    done = headwater.attempt("watch", "model.h5", "y.csv", "--out", "alarms.jsonl")
    assert done.returncode == 0
    text = done.stderr.decode()
    assert "1,000 rows" in text and "1 false alarms expected if nothing is unusual" in text


@pytest.mark.parametrize("rate", ["1000", "1:2", "0:1", "many:1", "1000:-1"])
def test_a_rate_that_is_none(headwater, stream, rate):
    done = headwater.attempt("watch", "model.h5", "y.csv", "--alarms-per", rate)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("headwater: ") and "alarms-per" in done.stderr.decode()


def test_the_log_says_which_channels(headwater, stream):
    stream[700, 3] += 60
    write(headwater, "strange.csv", stream)
    headwater("fit", "strange.csv", "--components", 3, "--prior", "basis-selection", "--counts",
              "poisson", *settings(**STAYS), "--init", "basis.npy", "--hold", "basis", "--hold",
              "stay_off", "--hold", "stay_on", "--out", "again.h5", "--quiet", "--log", "log.jsonl",
              "--surprise")
    lines = [json.loads(line) for line in headwater.path("log.jsonl").read_text().splitlines()]
    assert lines[700]["channels"][0]["name"] == "west"
    assert lines[700]["p_channels"] < 1e-6
    assert all(0 <= line["p_channels"] <= 1 and 0 <= line["p_total"] <= 1 for line in lines)


def test_p_values_do_not_depend_on_the_seed(headwater):
    """By particles, within 20 % down to 1e-4: probabilities are computed, not drawn. Here the total
    of a row is raised further and further."""
    headwater("simulate", "--prior", "gamma", *settings(shape=2, persistence=0.8), "--channels", 30,
              "--components", 2, "--length", 120, "--seed", 5, "--out", "y.npy", "--save-basis",
              "basis.npy")
    y = headwater.load("y.npy")
    y[60::6] += np.arange(10)[:, None] // 2
    np.save(headwater.path("strange.npy"), y)
    headwater("fit", "y.npy", "--components", 2, "--prior", "gamma", "--counts", "poisson",
              *settings(shape=2, persistence=0.8), "--init", "basis.npy", "--hold", "basis",
              "--hold", "shape", "--hold", "persistence", "--out", "model.h5", "--quiet")
    found = []
    for seed in 1, 2, 3:
        rows = watch(headwater, "strange.npy", "--every-row", "--engine", "fast", "--seed", seed)
        found.append([[row["p_row"], row["p_total"], row["p_channels"], row["channels"][0]["p"]]
                      for row in rows])
    found = np.array(found)
    least = found.min(axis=0)
    counted = least >= 1e-4
    ratios = found.max(axis=0)[counted] / least[counted]
    assert counted.mean() > 0.5
    assert np.quantile(ratios, 0.95) < 1.2
