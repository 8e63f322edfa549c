"""Descriptors, clashing names, files that cannot be written, and the order in which files are opened:
no run loses or damages a file that it was not to write."""

import fcntl
import os
import subprocess

import pytest

from support import TIMEOUT

T = 400
FIT = ("fit", "counts.csv", "--components", 2, "--prior", "basis-selection", "--init", "random")


@pytest.fixture
def counts(headwater):
    headwater("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2,
              "--length", T, "--seed", 3, "--out", "counts.csv")
    return headwater.path("counts.csv").read_text().splitlines(keepends=True)


def shell(headwater, text, *arguments):
    """Runs the command by a shell: `text` is what follows the command line, such as 2>&-."""
    words = ["sh", "-c", f'"$@" {text}', "sh", *headwater.line(*arguments)]
    return subprocess.run(words, cwd=headwater.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_do_not_damage_the_model(headwater, counts, closed):
    headwater(*FIT, "--out", "whole.h5")
    assert shell(headwater, closed, *FIT, "--out", "model.h5").returncode == 0
    assert headwater.path("model.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


@pytest.mark.parametrize("arguments", [["show", "model.h5"], ["apply", "model.h5", "counts.csv",
                                                              "--out", "-"], ["--help"]])
@pytest.mark.parametrize("stream", [">&-", ">/dev/full"])
def test_output_that_goes_nowhere_is_an_error(headwater, counts, arguments, stream):
    headwater(*FIT, "--out", "model.h5")
    done = shell(headwater, stream, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(b"headwater: ") and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize("data, code", [("counts.csv", 0), ("nowhere.csv", 1)])
def test_words_that_cannot_be_written_do_no_harm(headwater, counts, stream, data, code):
    done = shell(headwater, stream, "fit", data, *FIT[2:], "--out", "model.h5")
    assert done.returncode == code
    assert headwater.path("model.h5").exists() == (code == 0)


def test_a_reader_of_words_that_goes_away_does_no_harm(headwater, counts):
    process = headwater.start(*FIT, "--out", "model.h5", stderr=subprocess.PIPE)
    process.stderr.close()
    assert process.wait(TIMEOUT) == 0


def test_a_limit_of_file_sizes_is_an_error_like_any_other(headwater, counts):
    words = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh",
             *headwater.line(*FIT, "--out", "model.h5", "--log", "log.jsonl")]
    done = subprocess.run(words, cwd=headwater.folder, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert done.returncode == 1
    assert done.stderr == b"headwater: log.jsonl: cannot be written: File too large\n"


def test_without_proc_files_are_written_all_the_same(headwater, counts):
    hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no right to hide /proc here")
    headwater(*FIT, "--out", "whole.h5")
    done = subprocess.run([*hide, *headwater.line(*FIT, "--out", "model.h5", "--checkpoint", "c")],
                          cwd=headwater.folder, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    assert headwater.path("model.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    assert sorted(headwater.listing()) == ["c", "counts.csv", "model.h5", "whole.h5"]


# Each of these would have cost a file, or mixed two.
CLASHES = {
    "the data": [*FIT, "--out", "counts.csv"],
    "a symbolic link to the data": [*FIT, "--out", "m.h5", "--log", "symbolic.csv"],
    "a hard link to the data": [*FIT, "--out", "m.h5", "--activations", "hard.csv"],
    "another path of the data": [*FIT, "--out", "m.h5", "--checkpoint", "folder/../counts.csv"],
    "two outputs that exist": [*FIT, "--out", "old", "--log", "old"],
    "two outputs that do not exist": [*FIT, "--out", "m.h5", "--log", "folder/../m.h5"],
    "a link to nowhere": [*FIT, "--out", "new", "--checkpoint", "to_new"],
    "log and activations": [*FIT, "--out", "m.h5", "--log", "x", "--activations", "x"],
    "the start": [*FIT[:-1], "basis.csv", "--out", "m.h5", "--log", "basis.csv"],
    "the resumed checkpoint": [*FIT, "--out", "m.h5", "--resume", "old", "--log", "old"],
    "applied to the model": ["apply", "model.h5", "counts.csv", "--out", "model.h5"],
    "applied to the data": ["apply", "model.h5", "counts.csv", "--out", "symbolic.csv"],
    "score and prediction": ["score", "model.h5", "counts.csv", "--out", "x.csv", "--predict",
                             "x.csv"],
    "simulated": ["simulate", "--prior", "basis-selection", "--basis", "basis.csv", "--length", 3,
                  "--out", "x.csv", "--save-basis", "basis.csv"],
}


@pytest.mark.parametrize("arguments", CLASHES.values(), ids=CLASHES.keys())
def test_clashing_names_are_refused_before_anything_is_opened(headwater, counts, arguments):
    headwater(*FIT, "--out", "model.h5")
    headwater.write("old", "something")
    headwater.write("basis.csv", "1,2\n3,4\n5,6\n7,8\n")
    headwater.path("folder").mkdir()
    headwater.path("symbolic.csv").symlink_to("counts.csv")
    headwater.path("to_new").symlink_to("new")
    os.link(headwater.path("counts.csv"), headwater.path("hard.csv"))
    before = headwater.listing()
    done = headwater.attempt(*arguments)
    assert done.returncode == 2 and b"are the same file" in done.stderr, done.stderr
    assert done.stderr.count(b"\n") == 1
    assert headwater.listing() == before


def test_devices_may_be_named_twice(headwater, counts):
    headwater(*FIT, "--out", "m.h5", "--log", "/dev/null", "--activations", "/dev/null")


@pytest.mark.parametrize("option", ["--checkpoint", "--log", "--activations", "--out"])
@pytest.mark.parametrize("name, reason", [("nowhere/x", b"No such file or directory"),
                                          ("folder", b"Is a directory")])
def test_what_cannot_be_written_is_found_at_the_start(headwater, counts, option, name, reason):
    headwater.path("folder").mkdir()
    before = headwater.listing()
    # The data never come, so that only a check at the start can find it.
    reading, writing = os.pipe()
    try:
        done = headwater.attempt("fit", "-", *FIT[2:], *([] if option == "--out" else
                                                         ["--out", "m.h5"]), option, name,
                                 given=None, stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr == f"headwater: {name}: cannot be written: ".encode() + reason + b"\n"
    assert headwater.listing() == before


@pytest.mark.parametrize("extra, data, reason", [
    ([], lambda rows: rows[1:] + rows[:1], b"belongs to other data"),
    (["--skip", 10 * T], lambda rows: rows, b"expected 4000 to skip"),
    (["--seed", 9], lambda rows: rows, b"belongs to a fit with seed 1; this one has seed 9\n"),
    (["--set", "stay_on=0.9"], lambda rows: rows, b"belongs to a fit with no stay_on; this one has stay_on 0.9\n"),
], ids=["other data", "skip", "seed", "parameter"])
def test_a_refused_resume_changes_no_file(headwater, counts, extra, data, reason):
    lines = ["--log", "log.jsonl", "--activations", "x.csv", "--checkpoint", "state"]
    headwater(*FIT, *lines, "--out", "model.h5")
    headwater.write("counts.csv", "".join(data(counts)))
    for name in ("log.jsonl", "x.csv"):  # lines after the checkpoint, as of a killed fit
        with open(headwater.path(name), "a") as file:
            file.write("a line\n")
    before = headwater.listing()
    done = headwater.attempt(*FIT, *lines, *extra, "--out", "model.h5", "--resume", "state")
    assert done.returncode == 1 and reason in done.stderr, done.stderr
    assert headwater.listing() == before


@pytest.mark.parametrize("shared", ["--log", "--activations", "--checkpoint"])
def test_two_processes_do_not_write_one_file(headwater, counts, shared):
    running = headwater.start("fit", "-", *FIT[2:], "--out", "first.h5", "--quiet", shared, "shared",
                              *([] if shared == "--activations" else ["--activations", "-"]),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    running.stdin.write("".join(counts[:200]).encode())
    running.stdin.flush()
    if shared == "--activations":
        while not headwater.path("shared").exists() or not headwater.path("shared").read_bytes():
            assert running.poll() is None
    else:
        running.stdout.readline()  # it is at work
    done = headwater.attempt(*FIT, "--out", "second.h5", shared, "shared")
    assert done.returncode == 1
    assert done.stderr == b"headwater: shared: another process is writing it\n"
    assert not headwater.path("second.h5").exists()
    running.stdin.write("".join(counts[200:]).encode())
    running.communicate(timeout=TIMEOUT)
    assert running.returncode == 0
    headwater(*FIT, "--out", "whole.h5")
    assert headwater.path("first.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    assert not [name for name in headwater.listing() if name.endswith(".lock")]


def test_a_lock_of_a_killed_process_does_not_stay(headwater, counts):
    headwater.write(".state.lock", "")
    with open(headwater.path(".state.lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = headwater.attempt(*FIT, "--out", "m.h5", "--checkpoint", "state")
        assert done.returncode == 1 and b"another process is writing it" in done.stderr
    headwater(*FIT, "--out", "m.h5", "--checkpoint", "state")
    assert not headwater.path(".state.lock").exists()
