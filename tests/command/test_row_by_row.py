"""score, apply and forecast on streams: row in, row out; --skip and --from; signals."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest

from support import TIMEOUT, as_csv, held_model, read_csv

BASIS = np.array([[6, 1], [2, 3], [0.5, 5]])
COMMANDS = {"apply": ["--out", "-"], "score": ["--out", "-"],
            "predict": ["--predict", "-"],
            "forecast": ["--horizon", 1, "--each-row", "--quantiles", "0.1,0.9"]}


def command_of(kind):
    return "score" if kind == "predict" else kind


@pytest.fixture
def counts(headwater):
    held_model(headwater, "model.h5", BASIS, .9, .8)
    headwater("simulate", "--prior", "basis-selection", "--basis", "held_basis.npy", "--length", 60,
              "--seed", 3, "--out", "y.csv")
    return headwater.load("y.csv")


def start(headwater, kind, data, *more):
    return headwater.start(command_of(kind), "model.h5", data, *COMMANDS[kind], *more,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def read_rows(process, count):
    return b"".join(process.stdout.readline() for _ in range(count))


def wait_until_it_catches(process, number):
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        with open(f"/proc/{process.pid}/status") as file:
            caught = int(next(line for line in file if line.startswith("SigCgt")).split()[1], 16)
        if caught >> (number - 1) & 1:
            return
        time.sleep(.01)
    raise AssertionError("the command does not catch the signal")


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_row_comes_out_for_each_row_that_goes_in(headwater, counts, kind):
    process = start(headwater, kind, "-")
    found = b"" if kind != "forecast" else None
    for row in counts[:20]:
        process.stdin.write(as_csv([row]).encode())
        process.stdin.flush()
        if found is None:
            found = read_rows(process, 1)  # the header
        found += read_rows(process, 3 if kind == "forecast" else 1)  # or it would wait for ever
    assert process.communicate(timeout=TIMEOUT)[0] == b""
    assert process.returncode == 0
    headwater.write("first.csv", as_csv(counts[:20]))
    assert found == headwater(command_of(kind), "model.h5", "first.csv", *COMMANDS[kind])


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(headwater, counts, kind, stop):
    headwater.write("grows.csv", as_csv(counts[:10]))
    process = start(headwater, kind, "grows.csv", "--follow")
    lines = 31 if kind == "forecast" else 10
    found = read_rows(process, lines)
    with open(headwater.path("grows.csv"), "a") as file:
        file.write(as_csv(counts[10:12]))
    found += read_rows(process, 6 if kind == "forecast" else 2)
    process.send_signal(stop)
    out, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0 and out == b""
    assert error.decode().splitlines()[-1] == f"stopped by {stop.name} after 12 observations"
    headwater.write("first.csv", as_csv(counts[:12]))
    assert found == headwater(command_of(kind), "model.h5", "first.csv", *COMMANDS[kind])


def test_a_file_grows_with_follow_and_appears_whole_without(headwater, counts):
    headwater.write("grows.csv", as_csv(counts[:10]))
    process = headwater.start("score", "model.h5", "grows.csv", "--follow", "--out", "s.csv",
                              "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + TIMEOUT
    while not headwater.path("s.csv").exists() or \
            headwater.path("s.csv").read_bytes().count(b"\n") < 10:
        assert time.monotonic() < end
        time.sleep(.01)
    process.send_signal(signal.SIGTERM)
    totals = json.loads(process.communicate(timeout=TIMEOUT)[0])
    assert process.returncode == 0 and totals["observations"] == 10
    assert headwater.load("s.csv").shape == (10, 1)
    headwater.write("first.csv", as_csv(counts[:10]))
    assert headwater.score("model.h5", "first.csv", "--out", "t.csv") == totals
    assert headwater.path("t.csv").read_bytes() == headwater.path("s.csv").read_bytes()


def test_a_stop_before_the_first_row_is_an_error(headwater, counts):
    process = start(headwater, "apply", "-")
    wait_until_it_catches(process, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=TIMEOUT)  # while its input is open
    out, error = process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert error == b"headwater: -: stopped by SIGTERM before the first observation\n"


@pytest.mark.parametrize("kind", ["apply", "score"])
def test_a_reader_that_goes_away_is_an_error_of_one_line(headwater, counts, kind):
    process = start(headwater, kind, "-")
    process.stdout.close()
    _, error = process.communicate(as_csv(np.tile(counts, (50, 1))).encode(), timeout=TIMEOUT)
    assert process.returncode == 1
    assert error == b"headwater: standard output: cannot be written: Broken pipe\n"


@pytest.mark.parametrize("kind", ["apply", "score", "predict"])
def test_from_filters_from_the_start_and_skip_does_not(headwater, counts, kind):
    def run(data, *more):
        return headwater(command_of(kind), "model.h5", data, *COMMANDS[kind], *more)
    whole = run("y.csv").splitlines()
    assert run("y.csv", "--from", 41).splitlines() == whole[40:]
    headwater.write("rest.csv", as_csv(counts[20:]))
    rest = run("rest.csv")
    assert run("y.csv", "--skip", 20) == rest
    assert run("y.csv", "--skip", 20, "--from", 31).splitlines() == rest.splitlines()[10:]
    assert run("y.csv", "--skip", 20, "--from", 5) == rest


def test_totals_count_what_was_wanted(headwater, counts):
    headwater("score", "model.h5", "y.csv", "--out", "s.npy", "--quiet")
    steps = headwater.load("s.npy")[:, 0]
    totals = headwater.score("model.h5", "y.csv", "--from", 41)
    assert totals["observations"] == 20
    assert totals["log_likelihood"] == pytest.approx(steps[40:].sum(), rel=1e-13)
    assert totals["per_observation"] == totals["log_likelihood"] / 20
    for smooth in ([], ["--smooth"]):
        headwater("apply", "model.h5", "y.csv", "--out", "a.npy", *smooth)
        headwater("apply", "model.h5", "y.csv", "--out", "b.npy", "--from", 41, *smooth)
        assert np.array_equal(headwater.load("a.npy")[40:], headwater.load("b.npy"))
    headwater("apply", "model.h5", "y.csv", "--out", "c.npy", "--smooth", "--skip", 20)
    assert headwater.load("c.npy").shape == (40, 2)


def test_figures_for_a_cell_leave_missing_cells_out(headwater, counts):
    holes = counts.astype(float)
    holes[5] = np.nan
    holes[7, 1] = np.nan
    headwater.write("holes.csv", as_csv(holes))
    totals = headwater.score("model.h5", "holes.csv")
    assert totals["cells"] == 60 * 3 - 4
    assert totals["per_cell"] == totals["log_likelihood"] / totals["cells"]
    text = headwater("score", "model.h5", "holes.csv").decode()
    assert "\ncells           176\nper cell        " in text


def test_sequences_are_counted_where_results_are_wanted(headwater, counts):
    rows = [f"{t // 20}," + ",".join(f"{v:g}" for v in row) for t, row in enumerate(counts)]
    headwater.write("trials.csv", "trial,a,b,c\n" + "\n".join(rows) + "\n")
    options = ("--sequence-column", "trial")
    assert headwater.score("model.h5", "trials.csv", *options)["sequences"] == 3
    assert headwater.score("model.h5", "trials.csv", *options, "--from", 31)["sequences"] == 2


def test_a_forecast_after_each_row(headwater, counts):
    rolling = headwater("forecast", "model.h5", "y.csv", "--horizon", 2, "--each-row", "--from", 59)
    lines = rolling.decode().splitlines()
    assert lines[0] == "t,step,channel,mean"
    assert len(lines) == 1 + 2 * 2 * 3
    last = headwater("forecast", "model.h5", "y.csv", "--horizon", 2).decode().splitlines()
    assert lines[7:] == ["60," + line for line in last[1:]]
    headwater.write("less.csv", as_csv(counts[:59]))
    last = headwater("forecast", "model.h5", "less.csv", "--horizon", 2).decode().splitlines()
    assert lines[1:7] == ["59," + line for line in last[1:]]


def test_a_forecast_knows_the_phase(headwater):
    """After 6 rows from phase 1 of a period of 4, the next row has phase 3."""
    profile = np.array([[.1, .5, 1.4, 2]])
    headwater.save("basis.npy", np.array([[100.0]]))
    headwater.save("profile.npy", profile)
    headwater("simulate", "--prior", "basis-selection", "--set", "stay_on=0.999", "--set",
              "stay_off=0.001", "--basis", "basis.npy", "--period", 4, "--profile", "profile.npy",
              "--length", 2000, "--out", "y.csv")
    headwater("fit", "y.csv", "--components", 1, "--prior", "basis-selection", "--period", 4, "--init",
              "basis.npy", "--out", "season.h5")
    rows = headwater.load("y.csv")[1:7]
    headwater.write("part.csv", as_csv(rows))
    lines = headwater("forecast", "season.h5", "part.csv", "--horizon", 4, "--phase", 1)
    means = [float(line.split(b",")[2]) for line in lines.splitlines()[1:]]
    assert means == pytest.approx(100 * np.roll(profile[0], 1), rel=.1)


@pytest.mark.parametrize("arguments, message", [
    (["score", "--skip", 60], "y.csv: has 60 observations; --skip 60 leaves none"),
    (["score", "--skip", 61], "y.csv: has 60 observations; --skip 61 leaves none"),
    (["apply", "--out", "x.csv", "--from", 61], "y.csv: has 60 observations; --from 61 leaves none"),
    (["apply", "--out", "x.csv", "--from", 61, "--smooth"],
     "y.csv: --skip 0 and --from 61 leave no observation"),
    (["score", "--from", 0], "--from 0: expected a whole number from 1 to 1000000000000000"),
    (["apply", "--out", "x.csv", "--smooth", "--follow"],
     "--smooth needs all data, so it cannot go with --follow"),
])
def test_what_leaves_nothing_is_refused(headwater, counts, arguments, message):
    before = headwater.listing()
    done = headwater.attempt(arguments[0], "model.h5", "y.csv", *arguments[1:])
    assert done.returncode == (1 if message.startswith("y.csv") else 2)
    assert done.stderr.decode() == f"headwater: {message}\n"
    assert headwater.listing() == before


def test_big_output_to_a_pipe(headwater):
    """More than a pipe holds, in rows longer than it takes at once."""
    headwater.write("wide.csv", as_csv(np.ones((4, 20000))))
    headwater("fit", "wide.csv", "--components", 1, "--prior", "gamma", "--engine", "fast", "--init",
              "random", "--counts", "poisson", "--out", "wide.h5")
    rows = headwater("score", "wide.h5", "wide.csv", "--predict", "-")
    headwater("score", "wide.h5", "wide.csv", "--predict", "p.csv")
    assert rows == headwater.path("p.csv").read_bytes()
    assert read_csv(rows).shape == (4, 20000)
