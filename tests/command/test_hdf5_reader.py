"""HDF5 data are read by a separate process, whose crash does not end the command."""

import os
import pathlib
import signal
import struct
import subprocess
import time

import h5py
import numpy as np
import pytest

from support import TIMEOUT

# More than a pipe and a block hold, so that the reader is still there when observations come out.
T, CHANNELS = 20000, 200
FIT = ["fit", "long.h5:/counts", "--prior", "relaxed-selection", "--components", 2, "--init",
       "random", "--particles", 100, "--out", "model.h5", "--activations", "-"]
FOUND_BY_FUZZERS = pathlib.Path(__file__).parent.parent / "fuzz" / "corpus" / "hdf5"


@pytest.fixture
def fit(headwater):
    """A running fit that has processed some observations; it leads its own process group."""
    with h5py.File(headwater.path("long.h5"), "w") as file:
        file["counts"] = np.random.default_rng(1).poisson(2, size=(T, CHANNELS)).astype("u1")
    process = headwater.start(*FIT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True)
    for _ in range(200):
        assert process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def readers_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(number) for number in children.read_text().split()]


def is_at_work(number):
    """A process that has ended may still be listed as a zombie if nobody waits for orphans."""
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


# SIGABRT, because sanitizers turn SIGSEGV into an exit code.
@pytest.mark.parametrize("stop, what", [(signal.SIGABRT, "crashed"),
                                        (signal.SIGPROF, "did not end")])
def test_a_crash_of_the_reader_is_an_error(headwater, fit, stop, what):
    reader, = readers_of(fit)
    os.kill(reader, stop)
    _, error = fit.communicate(timeout=TIMEOUT)
    assert fit.returncode == 1
    last = error.decode().strip().split("\n")[-1].split("\r")[-1]
    assert last == f"headwater: long.h5: is a damaged HDF5 file: reading it {what}"
    assert not headwater.path("model.h5").exists()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_both_stops_the_fit_only(headwater, fit, stop):
    """A terminal or systemd sends the signal to the whole process group."""
    os.killpg(fit.pid, stop)
    _, error = fit.communicate(timeout=TIMEOUT)
    assert fit.returncode == 0, error
    assert f"stopped by {stop.name}".encode() in error
    assert headwater.facts("model.h5")["observations"] >= 200


def test_the_reader_goes_when_the_command_is_killed(fit):
    reader, = readers_of(fit)
    fit.kill()
    fit.communicate()
    end = time.monotonic() + TIMEOUT
    while is_at_work(reader):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("name", sorted(path.name for path in FOUND_BY_FUZZERS.iterdir()))
def test_files_that_crash_libhdf5_are_refused(headwater, name):
    headwater.write("damaged.h5", (FOUND_BY_FUZZERS / name).read_bytes())
    done = headwater.attempt("fit", "damaged.h5:/counts", "--prior", "basis-selection",
                             "--components", 2, "--out", "model.h5", "--quiet")
    assert done.returncode == 1
    assert done.stderr.startswith(b"headwater: damaged.h5: ") and done.stderr.count(b"\n") == 1


# HDF5's filter scale-offset stores equal numbers as their minimum and a width of 0 bits.
@pytest.mark.skipif("SANITIZED" in os.environ, reason="sanitizers reserve terabytes of addresses")
def test_a_small_file_cannot_take_all_memory(headwater):
    """A file of 4 kB with a chunk of 2 GB."""
    with h5py.File(headwater.path("bomb.h5"), "w") as file:
        counts = file.create_dataset("counts", shape=(40, 3), maxshape=(None, None), dtype="u4",
                                     chunks=(2 ** 14, 2 ** 15), scaleoffset=0)
        counts.id.write_direct_chunk((0, 0), struct.pack("<IBQ", 0, 8, 5).ljust(21, b"\0"))
    done = headwater.attempt("fit", "bomb.h5:/counts", "--prior", "basis-selection",
                             "--components", 2, "--out", "model.h5", "--quiet")
    assert done.returncode == 1
    assert done.stderr == b"headwater: bomb.h5: /counts: rows 1 to 40 cannot be read\n"


def test_the_reader_is_not_in_the_help(headwater):
    assert b"read-hdf5" not in headwater("--help")
    assert b"read-hdf5" not in headwater.attempt().stderr
