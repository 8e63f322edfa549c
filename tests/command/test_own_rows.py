"""Ranks that keep the rows of their own channels alone: the same bytes as headwater gives.

    HEADWATER=build/release/headwater HEADWATER_MPI=build/release/headwater-mpi \\
        python3 -m pytest tests/command/test_own_rows.py
"""

import os
import re
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from ranks import ENVIRONMENT, FAST, MARKS, PARTICLES, Ranks, process_of_rank
from support import TIMEOUT

pytestmark = MARKS

LARGE = (90000, 12)


def sparse_rows(length, seed):
    """Some counts each, from all channels. Some rows have one count alone, or none, and one has a
    count that is an outlier."""
    random = np.random.default_rng(seed)
    rows = []
    for t in range(length):
        size = 1 if t % 11 == 5 else 0 if t % 13 == 7 else 120
        channels = np.sort(random.choice(LARGE[0], size, replace=False))
        counts = 1 + random.poisson(0.5 + (channels % 4 == t // 8 % 4), size)
        if t == 24:
            counts[5] = 10**7
        rows.append((channels, counts))
    return rows


def write_sparse(headwater, name, rows):
    lines = [f"{t + 1} {m + 1} {count}" for t, (channels, counts) in enumerate(rows)
             for m, count in zip(channels, counts)]
    headwater.write(name, "%%MatrixMarket matrix coordinate integer general\n"
                    f"{len(rows)} {LARGE[0]} {len(lines)}\n" + "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def large(shared_headwater):
    headwater = shared_headwater
    rows = sparse_rows(40, 5)
    write_sparse(headwater, "large.mtx", rows)
    write_sparse(headwater, "long.mtx", sparse_rows(1010, 6))
    random = np.random.default_rng(7)
    dense = np.zeros((len(rows), LARGE[0]), dtype=np.float32)
    for t, (channels, counts) in enumerate(rows):
        dense[t, channels] = counts
    exposure = np.ones_like(dense)
    seen = random.random(dense.shape) < 0.001
    exposure[seen] = random.uniform(0.5, 2, seen.sum())
    dense[random.random(dense.shape) < 0.0005] = np.nan
    dense[:, 5:1500] = np.nan  # a block without a cell
    headwater.save("large_exposure.npy", exposure[:24])
    with h5py.File(headwater.path("large.h5"), "w") as file:
        file.create_dataset("chunks", data=dense[:24], chunks=(5, 1700))
    dense[17, [20000, 80000]] = -1
    dense[19, 70000] = -2
    headwater.save("bad.npy", dense[:24])
    headwater.save("sequences.npy", dense[:24].reshape(3, 8, -1))
    basis = random.gamma(1.0, 0.01, LARGE) + 1e-4
    basis[:, 3] = basis[:, 7]  # one of them is given a new column when 1,000 observations are in
    basis[100:200] = 0
    headwater.save("large_basis.npy", basis)
    return headwater


OWN = ("--counts", "poisson", "--init", "random", "--start-on", 8, "--burn-in", 8, "--block", 6)
LARGE_FITS = {
    "fast": ("large.mtx", *FAST, *OWN),
    "fast, corrected": ("large.mtx", *FAST, *OWN, "--prior", "log-gaussian"),
    "fast, missing cells": ("large.h5:/chunks", *FAST, *OWN, "--exposure", "large_exposure.npy"),
    "particles, sequences": ("sequences.npy", *PARTICLES, *OWN, "--proposal", "prior", "--skip", 2,
                             "--on-bad-row", "skip"),
    "a given start": ("long.mtx", *FAST, *OWN, "--init", "large_basis.npy",
                      "--block", 50),
}


def fit_large(command, words):
    """The messages, and the model."""
    done = command.attempt("fit", *words, "--components", LARGE[1], "--out", "model.h5")
    assert done.returncode == 0, done.stderr
    model = command.path("model.h5").read_bytes()
    command.path("model.h5").unlink()
    return re.sub(r"in [0-9.]+ s .*", "", done.stderr.decode()), model


@pytest.mark.parametrize("name", LARGE_FITS)
def test_ranks_that_keep_their_own_rows_give_the_same_bytes(large, name):
    words = LARGE_FITS[name]
    told, model = fit_large(large, words)
    if name == "a given start":
        assert "were given a new column" in told
    for size in (2, 3) if name == "fast" else (3,):
        told_by_ranks, model_by_ranks = fit_large(Ranks(large, size), words)
        assert told_by_ranks == told, size  # among others: that no rank keeps all channels
        assert model_by_ranks == model, size


def test_ranks_without_channels_leave_all_rows_with_all(headwater):
    """1,100 channels are two blocks, of which a third rank has none, under a large basis."""
    random = np.random.default_rng(8)
    headwater.save("few.npy", random.poisson(0.3, (20, 1100)).astype(float))
    words = ("fit", "few.npy", *FAST, *OWN, "--components", 960, "--quiet", "--out")
    headwater(*words, "alone.h5")
    Ranks(headwater, 3)(*words, "ranks.h5")
    assert headwater.path("ranks.h5").read_bytes() == headwater.path("alone.h5").read_bytes()


def test_a_value_that_one_rank_alone_has_seen_is_an_error_of_all(large):
    words = ("fit", "bad.npy", *FAST, *OWN, "--components", LARGE[1], "--out", "never.h5")
    told = [command.attempt(*words) for command in (large, Ranks(large, 3))]
    assert [done.returncode for done in told] == [1, 1]
    ours, theirs = (done.stderr.decode().splitlines()[-1].split(": ", 1)[1] for done in told)
    assert ours == theirs
    assert "row 18, column 20001: -1 is negative" in ours


@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_rank_ends_a_fit_in_which_ranks_keep_their_own_rows(large, killed):
    line = Ranks(large, 3).line("fit", *LARGE_FITS["a given start"], "--components", LARGE[1],
                                "--quiet", "--log", "killed.log", "--out", "never.h5")
    log = large.path("killed.log")
    with subprocess.Popen(line, cwd=large.folder, env=ENVIRONMENT, stderr=subprocess.PIPE) as job:
        end = time.monotonic() + TIMEOUT
        while not (log.exists() and log.stat().st_size > 0) and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(process_of_rank(killed, job.pid), signal.SIGKILL)
        told = job.communicate(timeout=TIMEOUT)[1].decode()
    log.unlink()
    assert job.returncode == 1
    assert f"headwater-mpi: rank {killed} was ended by signal 9 (Killed)" in told
    assert not large.path("never.h5").exists()


def test_what_needs_all_channels_is_told(large):
    words = (*LARGE_FITS["fast"], "--counts", "negative-binomial")
    told, model = fit_large(large, words)
    told_by_ranks, model_by_ranks = fit_large(Ranks(large, 2), words)
    line = "every rank keeps all 90,000 channels, since --counts negative-binomial needs them\n"
    assert line in told_by_ranks
    assert told_by_ranks.replace(line, "") == told
    assert model_by_ranks == model
