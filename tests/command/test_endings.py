"""However a fit ends, nothing that it has read or sent is lost, doubled or changed."""

import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import termios
import time

import pytest

from support import TIMEOUT

T = 1200
FIT = ("fit", "-", "--components", 2, "--prior", "basis-selection", "--init", "random", "--quiet")


@pytest.fixture
def counts(headwater):
    headwater("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2,
              "--length", T, "--seed", 3, "--out", "counts.csv")
    return headwater.path("counts.csv").read_text().splitlines(keepends=True)


@pytest.fixture
def whole(headwater, counts):
    """Model, activations and log of the whole stream."""
    x = headwater(*FIT, "--out", "whole.h5", "--activations", "-", "--log", "whole.jsonl",
                  given="".join(counts).encode())
    return (headwater.path("whole.h5").read_bytes(), x,
            headwater.path("whole.jsonl").read_bytes())


def named_model(headwater, header, counts):
    """The model of the whole stream, with the names of the header, if there is one."""
    headwater(*FIT, "--out", "named.h5", given=(header + "".join(counts)).encode())
    return headwater.path("named.h5").read_bytes()


def resumed_model(headwater, counts, *extra):
    headwater(*FIT, "--out", "resumed.h5", "--resume", "state", *extra,
              given="".join(counts).encode())
    return headwater.path("resumed.h5").read_bytes()


def until(condition, process):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)


def is_empty(fifo):
    left = bytearray(4)
    fcntl.ioctl(fifo, termios.FIONREAD, left)
    return int.from_bytes(left, sys.byteorder) == 0


def send_the_rest(fifo, text, process):
    """Writes to a FIFO that this process has opened both ways, and closes it when all is read."""
    os.write(fifo, text)
    until(lambda: is_empty(fifo), process)
    os.close(fifo)


def test_a_bad_row_puts_the_fit_away(headwater, counts, whole):
    bad = counts[:999] + ["1,2,-3,4\n"] + counts[999:]
    done = headwater.attempt(*FIT, "--out", "m.h5", "--checkpoint", "state", "--checkpoint-every",
                             T, given="".join(bad).encode())
    assert done.returncode == 1
    assert done.stderr == (b"headwater: standard input:1000: column 3: '-3' is negative; "
                           b"observations must be 0 or more; the same command with --resume state "
                           b"goes on after 999 observations\n")
    assert not headwater.path("m.h5").exists()
    assert resumed_model(headwater, counts) == whole[0]


def test_a_consumer_that_dies_puts_the_fit_away(headwater, counts, whole):
    process = headwater.start(*FIT, "--out", "m.h5", "--checkpoint", "state", "--log", "log.jsonl",
                              "--activations", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    process.stdin.write("".join(counts[:500]).encode())
    process.stdin.flush()
    seen = b"".join(process.stdout.readline() for _ in range(500))
    process.stdout.close()
    _, error = process.communicate("".join(counts[500:]).encode(), timeout=TIMEOUT)
    assert process.returncode == 1 and b"Broken pipe; the same command with --resume state" in error
    rest = headwater(*FIT, "--out", "m.h5", "--resume", "state", "--log", "log.jsonl",
                     "--activations", "-", given="".join(counts).encode())
    model, x, log = whole
    assert seen + rest == x
    assert headwater.path("m.h5").read_bytes() == model
    assert headwater.path("log.jsonl").read_bytes() == log


def test_a_full_disk_of_the_log_costs_no_line(headwater, counts, whole, tmp_path):
    limited = ["sh", "-c", 'ulimit -f 200; exec "$@"', "sh"]
    done = subprocess.run([*limited, *headwater.line(
        *FIT, "--out", "m.h5", "--checkpoint", "state", "--log", "log.jsonl", "--activations",
        "x.csv")], cwd=headwater.folder, input="".join(counts).encode(), stderr=subprocess.PIPE,
        timeout=TIMEOUT)
    assert done.returncode == 1
    assert b"log.jsonl: cannot be written: File too large; the same command" in done.stderr
    headwater(*FIT, "--out", "m.h5", "--resume", "state", "--log", "log.jsonl", "--activations",
              "x.csv", given="".join(counts).encode())
    model, x, log = whole
    assert headwater.path("m.h5").read_bytes() == model
    assert headwater.path("log.jsonl").read_bytes() == log
    assert headwater.path("x.csv").read_bytes() == x


def test_a_truncated_followed_file_puts_the_fit_away(headwater, counts, whole):
    process = headwater.start(*("counts.csv" if word == "-" else word for word in FIT), "--follow",
                              "--out", "m.h5", "--checkpoint", "state", "--log", "log.jsonl",
                              stderr=subprocess.PIPE)
    log = headwater.path("log.jsonl")
    until(lambda: log.exists() and log.read_bytes().count(b"\n") == T, process)
    os.truncate(headwater.path("counts.csv"), 100)
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert b"while it was followed; the same command with --resume state" in error
    assert resumed_model(headwater, counts) == whole[0]


# A number that was cut off looks like another number.
def test_a_pipe_that_ends_in_the_middle_of_a_line_is_an_error(headwater, counts, whole):
    cut = "".join(counts[:700]) + "12,3,1"
    done = headwater.attempt(*FIT, "--out", "m.h5", "--checkpoint", "state", given=cut.encode())
    assert done.returncode == 1
    assert b"standard input:701: the data end in the middle of a line, after '12,3,1'" in done.stderr
    assert b"--resume state goes on after 700 observations" in done.stderr
    assert resumed_model(headwater, counts) == whole[0]
    headwater.write("file.csv", cut + ",4")  # a file may end like this
    headwater(*("file.csv" if word == "-" else word for word in FIT), "--out", "m.h5")
    assert headwater.facts("m.h5")["observations"] == 701


@pytest.mark.parametrize("header", ["", "a,b,c,d\n"], ids=["no header", "header"])
@pytest.mark.parametrize("cut", [0, 1, 3, 500, 501], ids=str)
def test_a_fifo_that_goes_on_loses_nothing_at_a_signal(headwater, counts, whole, header, cut):
    """The signal comes while the fit has read ahead, with half a line at the end."""
    fifo = headwater.path("fifo.csv")
    os.mkfifo(fifo)
    fit = ["fifo.csv" if word == "-" else word for word in FIT]
    text = (header + "".join(counts)).encode()
    at = len(header) + len("".join(counts[:cut])) + 2  # in the middle of a line
    both_ways = os.open(fifo, os.O_RDWR)  # what is in the FIFO stays between two readers
    first = headwater.start(*fit, "--out", "first.h5", "--checkpoint", "state", "--activations",
                            "x.csv")
    os.write(both_ways, text[:at])
    if cut > 0:
        x = headwater.path("x.csv")
        until(lambda: x.exists() and x.read_bytes().count(b"\n") == cut, first)
    else:
        until(lambda: is_empty(both_ways), first)  # what it has read has to be in its checkpoint
    first.send_signal(signal.SIGTERM)
    assert first.wait(TIMEOUT) == (0 if cut > 0 else 1)
    second = headwater.start(*fit, "--out", "second.h5", "--resume", "state", "--skip", 0,
                             "--activations", "x.csv")
    send_the_rest(both_ways, text[at:], second)
    assert second.wait(TIMEOUT) == 0
    assert headwater.path("second.h5").read_bytes() == named_model(headwater, header, counts)
    assert headwater.path("x.csv").read_bytes() == whole[1]


def test_what_was_read_ahead_is_kept(headwater, counts, whole):
    """Rows that are much slower to take in than to read, so that many have been read ahead."""
    fit = ["fit", "fifo.csv", "--components", 2, "--prior", "relaxed-selection", "--particles",
           3000, "--init", "random", "--quiet"]
    os.mkfifo(headwater.path("fifo.csv"))
    both_ways = os.open(headwater.path("fifo.csv"), os.O_RDWR)
    first = headwater.start(*fit, "--out", "first.h5", "--checkpoint", "state", "--activations",
                            "x.csv")
    os.write(both_ways, "".join(counts[:900]).encode())
    x = headwater.path("x.csv")
    until(lambda: x.exists() and x.read_bytes().count(b"\n") > 150, first)
    first.send_signal(signal.SIGTERM)
    assert first.wait(TIMEOUT) == 0
    assert headwater.facts("first.h5")["observations"] < 900
    second = headwater.start(*fit, "--out", "second.h5", "--resume", "state", "--skip", 0)
    send_the_rest(both_ways, "".join(counts[900:]).encode(), second)
    assert second.wait(TIMEOUT) == 0
    assert headwater.facts("second.h5")["observations"] == T


@pytest.mark.parametrize("end", ["signal", "end of the data"])
def test_what_was_sent_is_not_sent_again(headwater, counts, whole, end):
    """The stream ends before there are enough rows for the last start, and goes on."""
    process = headwater.start(*FIT, "--out", "m.h5", "--checkpoint", "state", "--activations", "-",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write("".join(counts[:50]).encode())
    process.stdin.flush()
    sent = b"".join(process.stdout.readline() for _ in range(50))
    if end == "signal":
        process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=TIMEOUT)[0] == b""  # the end has nothing to add
    assert process.returncode == 0
    rest = headwater(*FIT, "--out", "m.h5", "--resume", "state", "--activations", "-",
                     given="".join(counts).encode())
    x = whole[1].splitlines(keepends=True)
    assert rest == b"".join(x[sent.count(b"\n"):])
    assert headwater.path("m.h5").read_bytes() == whole[0]


def test_a_consumer_that_does_not_read_does_not_hold_up_a_stop(headwater, counts, whole):
    many = counts * 20  # more activations than a pipe holds
    headwater.write("many.csv", "".join(many))
    fit = ["many.csv" if word == "-" else word for word in FIT]
    x = headwater(*fit, "--out", "all.h5", "--activations", "-")
    process = headwater.start(*fit, "--out", "m.h5", "--checkpoint", "state", "--activations", "-",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.read(1)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    error = process.stderr.read()
    seen = first + process.stdout.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(TIMEOUT) == 1
    assert b"standard output: cannot be written: nobody reads it; the same command" in error
    assert seen + headwater(*fit, "--out", "m.h5", "--resume", "state", "--activations", "-") == x
    assert headwater.path("m.h5").read_bytes() == headwater.path("all.h5").read_bytes()


@pytest.mark.parametrize("header", ["", "a,b,c,d\n"], ids=["no header", "header"])
def test_a_followed_file_that_is_rotated_is_followed_on(headwater, counts, whole, header):
    first = headwater.path("live.csv")
    first.write_text(header + "".join(counts[:500]))
    fit = ["live.csv" if word == "-" else word for word in FIT if word != "--quiet"]
    process = headwater.start(*fit, "--follow", "--out", "m.h5", "--checkpoint", "state", "--log",
                              "log.jsonl", stderr=subprocess.PIPE)
    log = headwater.path("log.jsonl")
    until(lambda: log.exists() and log.read_bytes().count(b"\n") == 500, process)
    first.rename(headwater.path("live.csv.1"))
    first.write_text(header + "".join(counts[500:900]))
    until(lambda: log.read_bytes().count(b"\n") == 900, process)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert b"live.csv: another file now has this name; reading goes on with it\n" in error
    # The new file is the one that is gone on with.
    first.write_text(header + "".join(counts[500:]))
    headwater(*fit, "--out", "m.h5", "--resume", "state", "--log", "log.jsonl")
    assert headwater.path("m.h5").read_bytes() == named_model(headwater, header, counts)
    assert log.read_bytes() == whole[2]


def test_a_rotated_file_that_ends_in_the_middle_of_a_line_is_an_error(headwater, counts):
    first = headwater.path("live.csv")
    first.write_text("".join(counts[:500]) + "1,2,3")
    process = headwater.start(*("live.csv" if word == "-" else word for word in FIT), "--follow",
                              "--out", "m.h5", "--log", "log.jsonl", stderr=subprocess.PIPE)
    log = headwater.path("log.jsonl")
    until(lambda: log.exists() and log.read_bytes().count(b"\n") == 500, process)
    first.rename(headwater.path("live.csv.1"))
    first.write_text("4\n1,2,3,4\n")
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert b"live.csv:501: the file ended in the middle of this line when a new file" in error


LONG_SEARCH = ("fit", "wide.csv", "--components", 12, "--prior", "relaxed-selection", "--out", "m.h5")
LONG_STEP = ("fit", "wide.csv", "--components", 12, "--prior", "relaxed-selection", "--init",
             "random", "--particles", 1000000, "--out", "m.h5")


@pytest.mark.parametrize("fit", [LONG_SEARCH, LONG_STEP], ids=["search", "step"])
@pytest.mark.parametrize("with_checkpoint", [True, False])
def test_a_stop_is_obeyed_in_the_middle_of_long_work(headwater, fit, with_checkpoint):
    headwater("simulate", "--prior", "relaxed-selection", "--channels", 200, "--components", 12,
              "--length", 3000, "--seed", 1, "--out", "wide.csv")
    process = headwater.start(*fit, *(["--checkpoint", "state"] if with_checkpoint else []),
                              stderr=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    # That it ends within a second is measured by ./dev bench torture: a test measures no time.
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    # Before it there may be a line that says how slow the fit will be.
    assert error.splitlines()[-1].startswith(
        b"headwater: stopped by SIGTERM in the middle of its work")
    assert not headwater.path("m.h5").exists()
    assert headwater.path("state").exists() == with_checkpoint
    assert not headwater.path(".state.lock").exists()
    if with_checkpoint:
        assert b"the same command with --resume state goes on after" in error


def test_a_stop_in_a_look_at_all_observations_loses_nothing(headwater):
    """Of unbounded activations there is a look at all observations when they have doubled."""
    headwater("simulate", "--prior", "log-gaussian", "--channels", 20, "--components", 6,
              "--length", 2050, "--seed", 1, "--out", "y.npy")
    fit = ["fit", "y.npy", "--components", 6, "--prior", "log-gaussian", "--counts", "poisson",
           "--engine", "fast", "--start-on", 1000, "--quiet"]
    headwater(*fit, "--out", "whole.h5", "--log", "whole.jsonl")
    fit += ["--out", "m.h5", "--log", "log.jsonl", "--checkpoint", "state"]
    log = headwater.path("log.jsonl")
    resume = []
    for _ in range(2):  # the second stop is in the look that the first one has interrupted
        process = headwater.start(*fit, *resume, stderr=subprocess.PIPE)
        until(lambda: log.exists() and log.read_bytes().count(b"\n") >= 2000, process)
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=TIMEOUT)
        # On a fast machine the look may be over, and the end is an orderly one.
        assert process.returncode == 0 or b"--resume state goes on after 2,000 obs" in error
        resume = ["--resume", "state"]
    headwater(*fit, *resume)
    assert headwater.path("m.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    assert log.read_bytes() == headwater.path("whole.jsonl").read_bytes()


def test_restarts_are_put_away_between_their_blocks(headwater, counts):
    fit = [*FIT[:-1], "--init", "auto", "--restarts", 3, "--quiet"]
    headwater(*fit, "--out", "whole.h5", given="".join(counts).encode())
    process = headwater.start(*fit, "--out", "m.h5", "--checkpoint", "state", "--checkpoint-every",
                              300, stdin=subprocess.PIPE)
    process.stdin.write("".join(counts[:301]).encode())
    process.stdin.flush()
    until(headwater.path("state").exists, process)
    process.kill()
    process.wait()
    process.stdin.close()
    headwater(*fit, "--out", "m.h5", "--resume", "state", given="".join(counts).encode())
    assert headwater.path("m.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_the_reader_of_hdf5_ends_with_a_killed_fit_also_at_a_fifo(headwater):
    os.mkfifo(headwater.path("never.h5"))
    process = headwater.start("fit", "never.h5:/counts", *FIT[2:], "--out", "m.h5")
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: children.read_text().split(), process)
    reader = children.read_text().split()[0]
    time.sleep(0.2)  # it gets to the FIFO
    process.kill()
    process.wait()
    end = time.monotonic() + TIMEOUT

    def is_at_work():
        try:
            return pathlib.Path(f"/proc/{reader}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
        except FileNotFoundError:
            return False
    while is_at_work():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("extra, words", [
    (["--skip", T], "counts.csv: there are no observations: 1,200 were skipped, and 0 rows"),
    (["--on-bad-row", "skip"], "bad.csv: there are no observations: 0 were skipped, and 2 rows"),
])
def test_no_observations_says_where_and_how_many(headwater, counts, extra, words):
    headwater.write("bad.csv", "1,2,x\n-1,2,3\n")
    name = words.partition(":")[0]
    header = ["--header", "no"] if name == "bad.csv" else []
    done = headwater.attempt("fit", name, *FIT[2:], *header, *extra, "--out", "m.h5")
    assert done.returncode == 1 and words in done.stderr.decode(), done.stderr


def test_exposures_are_called_exposures(headwater, counts):
    headwater.write("e.csv", "-1\n" * T)
    done = headwater.attempt(*FIT, "--exposure", "e.csv", "--out", "m.h5",
                             given="".join(counts).encode())
    assert b"e.csv:1: column 1: '-1' is negative; exposures must be 0 or more" in done.stderr


def test_a_checkpoint_needs_a_file(headwater, counts):
    done = headwater.attempt(*FIT, "--checkpoint", "-", "--out", "m.h5")
    assert done.returncode == 2 and b"--checkpoint needs a file" in done.stderr
    assert done.stdout == b""
