"""How the command interacts with its environment: help, streams, terminals, pipes and memory."""

import os
import pty
import re
import subprocess

import pytest

from support import TIMEOUT

# The flags of each command that the interface guarantees.
FLAGS = {
    "simulate": "--prior --set --basis --channels --components --length --seed --out "
                "--save-activations --save-basis",
    "fit": "--components --prior --out --set --hold --init --background --method --iterations "
           "--tolerance --engine --smoother --lag --paper-exact --step --burn-in --average --seed "
           "--trace-every --log --quiet --config --per-component --particles --proposal --resampling "
           "--resample-below --threads --strict",
    "apply": "--out --smooth --engine --particles --seed --threads",
    "score": "--out --predict --json --engine --particles --seed --threads",
    "show": "--json --basis --trace --last",
}
PARTS = {"fit": ["DATA"], "apply": ["MODEL", "DATA"], "score": ["MODEL", "DATA"], "show": ["MODEL"]}

SHAPE = ["--prior", "basis-selection", "--channels", 8, "--components", 5]
FIT = ["--components", 5, "--prior", "basis-selection"]


@pytest.fixture(scope="module")
def prepared(shared_headwater):
    """A folder with data and a model fitted to them."""
    command = shared_headwater
    command("simulate", *SHAPE, "--length", 500, "--seed", 1, "--out", "counts.csv")
    command("fit", "counts.csv", *FIT, "--out", "model.h5")
    return command


def on_a_terminal(headwater, *arguments):
    """Runs the command with a terminal as standard error; returns the exit code and the output."""
    master, slave = pty.openpty()
    process = headwater.start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # on Linux: the other end of the terminal is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(master)
    return process.wait(timeout=TIMEOUT), shown.decode()


def peak_memory(headwater, length):
    """Peak memory in kilobytes of a fit that reads `length` observations from a pipe."""
    source = headwater.start("simulate", *SHAPE, "--length", length, "--seed", 1, "--out", "-",
                             stdout=subprocess.PIPE)
    fit = headwater.start("fit", "-", *FIT, "--quiet", "--out", "model.h5", stdin=source.stdout)
    source.stdout.close()
    _, status, usage = os.wait4(fit.pid, 0)
    fit.returncode = os.WEXITSTATUS(status)
    assert (fit.returncode, source.wait(timeout=TIMEOUT)) == (0, 0)
    return usage.ru_maxrss


@pytest.mark.parametrize("command", list(FLAGS))
def test_help_names_every_flag(headwater, command):
    done = headwater.attempt(command, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    named = re.findall(r"[\w-]+", done.stdout.decode())
    promised = FLAGS[command].split() + PARTS.get(command, [])
    assert [word for word in promised if word not in named] == []


def test_help_names_every_command(headwater):
    done = headwater.attempt("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(command in done.stdout.decode() for command in FLAGS)


@pytest.mark.parametrize("command", ["simulate", "fit"])
def test_help_lists_the_priors_with_their_parameters(headwater, command):
    text = headwater(command, "--help").decode()
    for name in "basis-selection", "stay_off", "stay_on", "finite", "states", "transition":
        assert name in text


def test_version(headwater):
    done = headwater.attempt("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.fullmatch(r"headwater \d+\.\d+\.\d+\n", done.stdout.decode())


@pytest.mark.parametrize("arguments", [
    ["simulate", *SHAPE, "--length", 50, "--quiet", "--out", "quiet.csv"],
    ["fit", "counts.csv", *FIT, "--quiet", "--out", "quiet.h5"],
    ["fit", "counts.csv", *FIT, "--method", "batch", "--iterations", 2, "--quiet",
     "--out", "quiet.h5"],
    ["apply", "model.h5", "counts.csv", "--quiet", "--out", "quiet.csv"],
    ["score", "model.h5", "counts.csv", "--quiet", "--out", "quiet.csv"],
], ids=["simulate", "fit", "batch", "apply", "score"])
def test_quiet_silences_standard_error(prepared, arguments):
    done = prepared.attempt(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [
    ["simulate", *SHAPE, "--length", 50, "--out", "other.csv", "--save-basis", "other_basis.csv"],
    ["fit", "counts.csv", *FIT, "--out", "other.h5", "--log", "other.log"],
    ["apply", "model.h5", "counts.csv", "--out", "other.csv"],
], ids=["simulate", "fit", "apply"])
def test_words_do_not_go_to_standard_output(prepared, arguments):
    assert prepared(*arguments) == b""


def test_a_summary_goes_to_standard_error(prepared):
    done = prepared.attempt("fit", "counts.csv", *FIT, "--out", "other.h5")
    words = done.stderr.decode()
    assert "500 observations of 8 channels" in words
    assert "log-likelihood" in words and "stay_off" in words and "other.h5" in words


@pytest.mark.parametrize("arguments", [
    ["simulate", *SHAPE, "--length", 50, "--out", "-"],
    ["apply", "model.h5", "counts.csv", "--out", "-"],
    ["score", "model.h5", "counts.csv", "--out", "-"],
    ["score", "model.h5", "counts.csv", "--predict", "-"],
    ["show", "model.h5", "--basis"],
], ids=["simulate", "apply", "score", "predict", "show"])
def test_standard_output_holds_nothing_but_numbers(prepared, arguments):
    done = prepared.attempt(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    for line in done.stdout.decode().splitlines():
        assert all(cell == str(cell).strip() and float(cell) == float(cell)
                   for cell in line.split(","))


PROGRESS = re.compile(r"\r[\d,]+ observations, [\d,]+/s, \d+ %, \d+(\.\d+)? (s|min|h) left")


def test_progress_is_shown_on_a_terminal(headwater):
    code, shown = on_a_terminal(headwater, "simulate", *SHAPE, "--length", 400000, "--seed", 1,
                                "--out", "counts.csv")
    assert code == 0
    assert PROGRESS.search(shown), shown
    code, shown = on_a_terminal(headwater, "fit", "counts.csv", *FIT, "--out", "model.h5")
    assert code == 0
    assert PROGRESS.search(shown), shown
    assert "400,000 observations of 8 channels" in shown


def test_batch_progress_counts_iterations(prepared):
    code, shown = on_a_terminal(prepared, "fit", "counts.csv", *FIT, "--method", "batch",
                                "--iterations", 800, "--tolerance", 0, "--out", "batch.h5")
    assert code == 0
    assert re.search(r"\r[\d,]+ iterations, [\d,]+/s, \d+ %, \d+ s left", shown), shown


def test_quiet_silences_a_terminal_too(headwater):
    assert on_a_terminal(headwater, "simulate", *SHAPE, "--length", 200000, "--quiet",
                         "--out", "counts.csv") == (0, "")


def test_no_progress_is_shown_where_there_is_no_terminal(headwater):
    done = headwater.attempt("simulate", *SHAPE, "--length", 200000, "--out", "counts.csv")
    assert (done.returncode, done.stderr) == (0, b"")
    done = headwater.attempt("fit", "counts.csv", *FIT, "--out", "model.h5")
    assert done.returncode == 0
    assert b"\r" not in done.stderr and b"\x1b" not in done.stderr


@pytest.mark.parametrize("arguments", [
    ["simulate", *SHAPE, "--length", 200000, "--out", "-"],
    ["apply", "model.h5", "counts.npy", "--out", "-"],
    ["score", "model.h5", "counts.npy", "--predict", "-"],
    ["show", "model.h5", "--trace"],
], ids=["simulate", "apply", "score", "show"])
def test_a_broken_pipe_is_an_error_like_any_other(prepared, arguments):
    prepared("simulate", *SHAPE, "--length", 20000, "--seed", 2, "--out", "counts.npy")
    process = prepared.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    words = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=TIMEOUT) == 1
    assert re.fullmatch(r"headwater: .*Broken pipe\n", words), words


@pytest.mark.skipif("SANITIZED" in os.environ, reason="sanitizers keep what was freed")
def test_memory_does_not_grow_with_the_stream(headwater):
    short, long = peak_memory(headwater, 10000), peak_memory(headwater, 200000)
    assert abs(long - short) <= 0.05 * short


def test_lines_are_taken_in_as_they_arrive(headwater):
    """The log shows the first observations while the pipe is still open."""
    headwater.write("start.csv", "3\n3\n")
    process = headwater.start("fit", "-", "--components", 1, "--prior", "basis-selection",
                              "--init", "start.csv", "--log", "-", "--quiet", "--out", "model.h5",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"1,2\n3,4\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b'{"t":1,')
    process.stdin.close()
    process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=TIMEOUT) == 0
