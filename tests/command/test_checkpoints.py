"""Fits that are saved and resumed: they give the same bytes, or refuse with a reason."""

import json
import os
import signal
import subprocess
import time

import pytest

import crash
from support import TIMEOUT, as_csv

T = 1200
FIT = ("fit", "counts.csv", "--components", 2, "--prior", "basis-selection", "--init", "random",
       "--quiet")


@pytest.fixture
def counts(headwater):
    headwater("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2,
              "--length", T, "--seed", 3, "--out", "counts.csv")
    return headwater.path("counts.csv").read_text().splitlines(keepends=True)


def put_away(headwater, counts, number, *arguments):
    """Fits the first observations and saves the checkpoint as `state`."""
    headwater.write("first.csv", "".join(counts[:number]))
    headwater(*("first.csv" if word == "counts.csv" else word for word in FIT), *arguments,
              "--checkpoint", "state", "--out", "first.h5")


def refusal(headwater, *arguments):
    before = headwater.listing()
    done = headwater.attempt(*arguments, "--out", "refused.h5", "--resume", "state")
    assert done.returncode == 1
    assert headwater.listing() == before
    error = done.stderr.decode()
    assert error.startswith("headwater: ") and error.count("\n") == 1
    return error


@pytest.mark.parametrize("extra", [
    [], ["--prior", "gamma", "--particles", 50], ["--restarts", 3, "--threads", 2],
    ["--init", "auto"], ["--engine", "beam", "--beam-width", 3],
    ["--engine", "fast", "--prior", "log-gaussian"], ["--engine", "fast", "--prior", "gamma"],
    ["--proposal", "guided", "--prior", "gamma", "--particles", 50],
    ["--proposal", "guided", "--prior", "relaxed-selection", "--particles", 50],
], ids=["exact", "particles", "restarts", "held back", "beam", "fast", "fast gamma",
        "guided gamma", "guided relaxed"])
def test_a_resumed_fit_gives_the_same_bytes(headwater, counts, extra):
    headwater(*FIT, *extra, "--out", "whole.h5")
    put_away(headwater, counts, 700, *extra)
    headwater(*FIT, *extra, "--out", "resumed.h5", "--resume", "state")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_a_pipe_is_passed_over_or_goes_on_where_it_was_cut_off(headwater, counts):
    fit = ["-" if word == "counts.csv" else word for word in FIT]
    headwater(*FIT, "--out", "whole.h5")
    put_away(headwater, counts, 700)
    headwater(*fit, "--out", "again.h5", "--resume", "state", given="".join(counts).encode())
    headwater(*fit, "--out", "rest.h5", "--resume", "state", "--skip", 0,
              given="".join(counts[700:]).encode())
    whole = headwater.path("whole.h5").read_bytes()
    assert headwater.path("again.h5").read_bytes() == whole
    assert headwater.path("rest.h5").read_bytes() == whole


def test_skip_leaves_out_the_beginning(headwater, counts):
    headwater.write("rest.csv", "".join(counts[200:]))
    headwater(*FIT, "--skip", 200, "--out", "skipped.h5")
    headwater("fit", "rest.csv", *FIT[2:], "--out", "rest.h5")
    assert headwater.path("skipped.h5").read_bytes() == headwater.path("rest.h5").read_bytes()


def test_log_and_activations_go_on_where_the_checkpoint_was_written(headwater, counts):
    lines = ["--log", "log.jsonl", "--activations", "x.csv", "--surprise"]
    headwater(*FIT, *lines, "--out", "whole.h5")
    whole = [headwater.path(name).read_bytes() for name in ("log.jsonl", "x.csv")]
    put_away(headwater, counts, 700, *lines)
    for name in ("log.jsonl", "x.csv"):  # lines after the checkpoint, as of a killed fit
        with open(headwater.path(name), "a") as file:
            file.write("half a li")
    headwater(*FIT, *lines, "--out", "resumed.h5", "--resume", "state")
    assert [headwater.path(name).read_bytes() for name in ("log.jsonl", "x.csv")] == whole


@pytest.mark.parametrize("change, reason", [
    (lambda state: state[:len(state) // 2], "is truncated"),
    (lambda state: state[:10], "is truncated"),
    (lambda state: b"", "is not a checkpoint of headwater"),
    (lambda state: b"t,x\n1,2\n", "is not a checkpoint of headwater"),
    (lambda state: state[:-1] + bytes([state[-1] ^ 1]), "is damaged: its checksum is wrong"),
    (lambda state: state[:21] + b"\x63" + state[22:], "is a checkpoint of format 99"),
])
def test_a_checkpoint_that_is_not_whole_is_refused(headwater, counts, change, reason):
    put_away(headwater, counts, 700)
    headwater.write("state", change(headwater.path("state").read_bytes()))
    assert f"headwater: state: {reason}" in refusal(headwater, *FIT)


@pytest.mark.parametrize("arguments, reason", [
    (["--seed", 2], "belongs to a fit with seed 1; this one has seed 2\n"),
    (["--step", "power:0.7"], "belongs to a fit with step auto; this one has step power:0.7\n"),
    (["--set", "stay_on=0.9"], "belongs to a fit with no stay_on; this one has stay_on 0.9\n"),
    (["--seed", 2, "--lag", 7], "belongs to a fit with lag 0, seed 1; this one has lag 7, seed 2\n"),
    (["--restarts", 2], "belongs to a fit with restarts 1; this one has restarts 2\n"),
    (["--prior", "relaxed-selection"], "belongs to a fit with prior basis-selection"),
])
def test_a_checkpoint_of_other_options_is_refused(headwater, counts, arguments, reason):
    put_away(headwater, counts, 700)
    assert f"headwater: state: {reason}" in refusal(headwater, *FIT, *arguments)


def test_a_checkpoint_of_other_data_is_refused(headwater, counts):
    put_away(headwater, counts, 700)
    headwater.write("counts.csv", "".join(counts[1:]))
    assert "state: belongs to other data: the first 700 observations of counts.csv" in refusal(
        headwater, *FIT)
    headwater.write("counts.csv", "".join(counts[:500]))
    message = "counts.csv: ends after 500 observations; expected 700 to skip before resuming"
    assert message in refusal(headwater, *FIT)


def test_batch_has_no_checkpoints(headwater, counts):
    done = headwater.attempt(*FIT, "--method", "batch", "--out", "m.h5", "--checkpoint", "state")
    assert done.returncode == 2 and b"checkpoints need online EM" in done.stderr


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_puts_the_fit_away(headwater, counts, stop):
    headwater(*FIT, "--out", "whole.h5")
    fit = ["-" if word == "counts.csv" else word for word in FIT if word != "--quiet"]
    process = headwater.start(*fit, "--checkpoint", "state", "--out", "stopped.h5", "--activations",
                              "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    process.stdin.write("".join(counts[:700]).encode())
    process.stdin.flush()
    for _ in range(700):
        process.stdout.readline()
    process.send_signal(stop)
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert f"stopped by {stop.name} after 700 observations".encode() in error
    assert b"--resume state continues from here" in error
    assert headwater.facts("stopped.h5")["observations"] == 700
    headwater(*FIT, "--out", "resumed.h5", "--resume", "state")
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_a_followed_file_ends_with_a_signal(headwater, counts):
    process = headwater.start(*FIT, "--follow", "--out", "model.h5", "--log", "log.jsonl")
    log = headwater.path("log.jsonl")
    while not log.exists() or log.read_bytes().count(b"\n") < T:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 0
    assert headwater.facts("model.h5")["observations"] == T


def test_kills_are_survived(headwater):
    assert crash.crash(headwater.binary, headwater.folder, kills=8, seed=1)[0] == 8


# The size of the state decides whether the first checkpoint or a later one fills the disk.
def test_a_full_disk_leaves_the_last_checkpoint(headwater, counts, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no right to mount a small disk here")
    try:
        done = headwater.attempt(*FIT, "--prior", "relaxed-selection", "--particles", 100, "--lag",
                                 5, "--out", "model.h5", "--checkpoint", "disk/state",
                                 "--checkpoint-every", 20)
        assert done.returncode == 1
        error = b"headwater: disk/state: cannot be written: No space left on device"
        assert done.stderr.startswith(error) and done.stderr.count(b"\n") == 1
        assert (b"--resume disk/state goes on" in done.stderr) == (disk / "state").exists()
        assert not headwater.path("model.h5").exists()
        assert [path.name for path in disk.iterdir()] in ([], ["state"])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_named_at_once(headwater, counts):
    done = headwater.attempt(*FIT, "--out", "model.h5", "--checkpoint", "nowhere/state")
    assert done.returncode == 1
    assert done.stderr.startswith(b"headwater: nowhere/state: cannot be written: ")


def test_what_the_log_says_of_surprise(headwater, counts):
    headwater(*FIT, "--out", "model.h5", "--log", "log.jsonl", "--surprise")
    lines = [json.loads(text) for text in headwater.path("log.jsonl").read_text().splitlines()]
    assert all(line["surprise"] == -line["log_predictive"] for line in lines)
    assert lines[0]["tail_probability"] == 1  # nothing is unusual where nothing is known
    assert all(0 < line["tail_probability"] < 1 for line in lines[1:])
