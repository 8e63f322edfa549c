"""headwater-mpi: the same bytes for every number of ranks, and as headwater gives.

    HEADWATER=build/release/headwater HEADWATER_MPI=build/release/headwater-mpi \\
        python3 -m pytest tests/command/test_ranks.py
"""

import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from ranks import ENVIRONMENT, FAST, MARKS, PARTICLES, Ranks, process_of_rank
from support import TIMEOUT

pytestmark = MARKS

# Five blocks of channels, the last one not full: ranks have one, two or three of them.
M = 4200
T = 30
K = 3


def draw_counts(seed=1, rate=1.0):
    """T x M counts of K components that are on or off, each with a tenth of the channels."""
    random = np.random.default_rng(seed)
    basis = random.gamma(1.0, 2.0, (M, K)) * (random.random((M, K)) < 0.1) + 0.02
    on = np.cumsum(random.random((T, K)) < 0.2, axis=0) % 2
    return random.poisson(rate * (0.2 + on) @ basis.T).astype(float)


@pytest.fixture(scope="module")
def data(shared_headwater):
    """A folder with the same counts as NumPy and Matrix Market files, and more."""
    headwater = shared_headwater
    counts = draw_counts()
    headwater.save("dense.npy", counts)
    rows, columns = np.nonzero(counts)
    lines = [f"{t + 1} {m + 1} {counts[t, m]:g}" for t, m in zip(rows, columns)]
    headwater.write("sparse.mtx", "%%MatrixMarket matrix coordinate integer general\n"
                    f"{T} {M} {len(lines)}\n" + "\n".join(lines) + "\n")
    with_gaps = counts.copy()
    random = np.random.default_rng(2)
    with_gaps[random.random(counts.shape) < 0.05] = np.nan
    headwater.save("gaps.npy", with_gaps)
    headwater.save("exposure.npy", random.uniform(0.5, 2, counts.shape))
    headwater.save("few.npy", np.minimum(draw_counts(3, 0.1), 2))
    headwater.save("small.npy", counts[:, :8])
    return headwater


EXACT = ("--prior", "basis-selection")
RANDOM = ("--init", "random", "--burn-in", 8, "--block", 6)
FITS = {
    "exact": ("dense.npy", *EXACT, *RANDOM),
    "exact, sparse file": ("sparse.mtx", *EXACT, *RANDOM),
    "exact forward": ("dense.npy", *EXACT, *RANDOM, "--smoother", "forward"),
    "exact batch": ("dense.npy", *EXACT, "--method", "batch", "--iterations", 3, "--init",
                    "random"),
    "beam": ("dense.npy", *EXACT, *RANDOM, "--engine", "beam", "--beam-width", 3),
    "lag": ("sparse.mtx", *PARTICLES, *RANDOM, "--proposal", "prior"),
    "paris": ("dense.npy", *PARTICLES, *RANDOM, "--smoother", "paris"),
    "forward": ("dense.npy", *PARTICLES, *RANDOM, "--smoother", "forward"),
    "path": ("dense.npy", *PARTICLES, *RANDOM, "--smoother", "path", "--particles", 12),
    "guided gamma": ("dense.npy", *PARTICLES, *RANDOM, "--proposal", "guided"),
    "guided log-gaussian": ("dense.npy", *PARTICLES, *RANDOM, "--proposal", "guided", "--prior",
                            "log-gaussian"),
    "guided relaxed": ("dense.npy", *PARTICLES, *RANDOM, "--proposal", "guided", "--prior",
                       "relaxed-selection"),
    "guided finite": ("dense.npy", *PARTICLES, *RANDOM, "--proposal", "guided", *EXACT),
    "fast": ("dense.npy", *FAST, *RANDOM),
    "fast, sparse file": ("sparse.mtx", *FAST, *RANDOM),
    "fast log-gaussian": ("dense.npy", *FAST, *RANDOM, "--prior", "log-gaussian"),
    "automatic start": ("dense.npy", *FAST, "--start-on", 16),
    "automatic start, exact": ("sparse.mtx", *EXACT, "--start-on", 16, "--counts", "auto"),
    "restarts": ("sparse.mtx", *EXACT, *RANDOM, "--restarts", 2),
    "missing cells, exact": ("gaps.npy", *EXACT, *RANDOM),
    "missing cells, fast": ("gaps.npy", *FAST, *RANDOM),
    "exposures, particles": ("dense.npy", *PARTICLES, *RANDOM, "--exposure", "exposure.npy"),
    "season, exact": ("dense.npy", *EXACT, *RANDOM, "--period", 5),
    "season, fast": ("gaps.npy", *FAST, *RANDOM, "--period", 5),
    "season, particles": ("dense.npy", *PARTICLES, *RANDOM, "--period", 5),
    "negative binomial, exact": ("dense.npy", *EXACT, *RANDOM, "--counts", "negative-binomial"),
    "negative binomial, fast": ("gaps.npy", *FAST, *RANDOM, "--counts", "negative-binomial"),
    "negative binomial, particles": ("dense.npy", *PARTICLES, *RANDOM, "--counts",
                                     "negative-binomial", "--dispersion", "shared"),
    "hurdle, particles": ("few.npy", *PARTICLES, *RANDOM, "--counts", "hurdle"),
    "drifting, fast": ("dense.npy", *FAST, *RANDOM, "--counts", "drifting"),
    "a background": ("dense.npy", *EXACT, *RANDOM, "--background"),
}
# Of the other fits one number of ranks is enough: 2, 3 and 4 by turns.
NUMBERS = {"exact": (1, 2, 3, 4), "lag": (1, 2, 3, 4), "fast": (1, 2, 3, 4)}


def fit(command, name, out, *extra):
    command("fit", *FITS[name], *extra, "--components", K, "--quiet", "--out", out)
    return command.path(out).read_bytes()


@pytest.mark.parametrize("name", FITS)
def test_fits_are_the_same_bytes_for_every_number_of_ranks(data, name):
    alone = fit(data, name, "alone.h5")
    at = list(FITS).index(name)
    for size in NUMBERS.get(name, (2 + at % 3,)):
        assert fit(Ranks(data, size), name, "ranks.h5", "--shard", "channels") == alone, size


# A basis that is so large that ranks keep the rows of their own channels alone: 88 blocks of
# channels, which three ranks cannot share evenly.
ROUNDS = {
    "exact": EXACT,
    "particles, a season": (*PARTICLES, "--period", 4),
    "fast, negative binomial": (*FAST, "--counts", "negative-binomial"),
    "a search for the start": (*FAST, "--init", "auto", "--start-on", 20),
}


@pytest.fixture(scope="module")
def trials(shared_headwater):
    """Eleven trials of 7 observations and 6 channels: rounds of 4, and a last one of 3."""
    random = np.random.default_rng(4)
    basis = random.gamma(1.0, 4.0, (6, 2))
    lines = ["trial,a,b,c,d,e,f"]
    for trial in range(11):
        on = np.cumsum(random.random((7, 2)) < 0.3, axis=0) % 2
        for row in random.poisson((0.2 + on) @ basis.T):
            lines.append(",".join([f"t{trial}"] + [str(count) for count in row]))
    shared_headwater.write("trials.csv", "\n".join(lines) + "\n")
    return shared_headwater


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_are_the_same_bytes_for_every_number_of_ranks(trials, name):
    words = ("fit", "trials.csv", "--sequence-column", "trial", "--components", 2, "--init",
             "random", "--burn-in", 7, "--round", 4, *ROUNDS[name], "--log", "log", "--quiet")
    outputs = ("model.h5", "log")
    trials(*words, "--out", "model.h5")
    alone = [trials.path(output).read_bytes() for output in outputs]
    for size in (1, 2, 3, 4) if name == "exact" else (3,):
        for output in outputs:
            trials.path(output).unlink()
        Ranks(trials, size)(*words, "--shard", "sequences", "--out", "model.h5")
        assert [trials.path(output).read_bytes() for output in outputs] == alone, size
    Ranks(trials, 2)(*words, "--shard", "channels", "--out", "model.h5")
    assert [trials.path(output).read_bytes() for output in outputs] == alone


def test_score_and_apply_are_the_same_bytes(data):
    fit(data, "lag", "model.h5")
    particles = ("--engine", "particle", "--particles", 50, "--quiet")
    for words in (("score", "model.h5", "gaps.npy", *particles, "--json"),
                  ("apply", "model.h5", "sparse.mtx", *particles, "--out", "-"),
                  ("apply", "model.h5", "gaps.npy", *particles, "--smooth", "--out", "-"),
                  ("apply", "model.h5", "dense.npy", "--engine", "fast", "--out", "-")):
        alone = data(*words)
        assert alone.count(b"\n") > 4
        assert Ranks(data, 3)(*words) == alone


APPLIED = {
    "exact": ("--engine", "exact"),
    "beam": ("--engine", "beam", "--beam-width", 2),
    "particles": ("--engine", "particle", "--particles", 50),
    "guided": ("--engine", "particle", "--particles", 20, "--proposal", "guided"),
}
CONTINUOUS = {
    "fast": ("--engine", "fast"),
    "particles": ("--engine", "particle", "--particles", 50),
    "drifting": ("--engine", "fast"),
}


def expect_shared_sequences(trials, model, engine, sizes):
    """Scores, predictions, activations and smoothed ones, of sequences that ranks share."""
    common = ("trials.csv", "--sequence-column", "trial", *engine, "--quiet")
    for words in (("score", model, *common, "--json", "--predict", "p.csv", "--out", "s.csv",
                   "--surprise"),
                  ("score", model, *common, "--json", "--skip", 3, "--from", 20),
                  ("apply", model, *common, "--out", "-"),
                  ("apply", model, *common, "--smooth", "--from", 9, "--out", "-")):
        files = [trials.path(name) for name in ("p.csv", "s.csv") if name in words]
        alone = [trials(*words)] + [file.read_bytes() for file in files]
        assert alone[0].count(b"\n") > 4
        for size in sizes:
            for file in files:
                file.unlink()
            found = [Ranks(trials, size)(*words, "--shard", "sequences")]
            assert found + [file.read_bytes() for file in files] == alone, (words, size)


@pytest.mark.parametrize("name", APPLIED)
def test_sequences_are_scored_and_applied_to_by_turns(trials, name):
    trials("fit", "trials.csv", "--sequence-column", "trial", "--components", 2, "--prior",
           "basis-selection", "--init", "random", "--period", 3, "--quiet", "--out", "on_off.h5")
    sizes = (1, 2, 3, 4) if name == "particles" else (3,)
    expect_shared_sequences(trials, "on_off.h5", APPLIED[name], sizes)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_sequences_of_unbounded_activations_are_scored_by_turns(trials, name):
    law = "drifting" if name == "drifting" else "negative-binomial"
    trials("fit", "trials.csv", "--sequence-column", "trial", "--components", 2, "--prior", "gamma",
           "--engine", "fast", "--init", "random", "--counts", law, "--quiet", "--out", "gamma.h5")
    expect_shared_sequences(trials, "gamma.h5", CONTINUOUS[name], (2,))


def test_one_sequence_is_said_to_be_one(data):
    fit(data, "exact", "one.h5")
    done = Ranks(data, 2).attempt("score", "one.h5", "dense.npy", "--shard", "sequences")
    assert done.returncode == 0
    assert done.stderr == b"the data are one sequence, so one of 2 ranks had all the work\n"


def test_the_first_rank_alone_speaks_and_writes(data):
    files = ("--log", "log", "--activations", "x", "--checkpoint", "state", "--out", "model.h5")
    words = ("fit", *FITS["fast"], "--components", K, *files)
    alone = data.attempt(*words)
    expected = {name: data.path(name).read_bytes() for name in ("log", "x", "model.h5", "state")}
    before = set(data.listing())
    ranked = Ranks(data, 3).attempt(*words)
    assert ranked.returncode == 0
    assert set(data.listing()) == before  # nothing else is left behind
    assert {name: data.path(name).read_bytes() for name in expected} == expected

    def without_times(done):
        return re.sub(r"in [0-9.]+ s .*", "", done.stderr.decode())

    assert without_times(ranked) == without_times(alone)


def test_few_channels_are_told_not_to_pay(data):
    words = ("fit", "small.npy", *EXACT, "--components", 2, "--init", "random", "--out")
    data(*words, "alone.h5")
    done = Ranks(data, 2).attempt(*words, "ranks.h5")
    assert "8 channels make one block of 1,024 channels: 1 of 2 ranks have work" in (
        done.stderr.decode())
    assert data.path("ranks.h5").read_bytes() == data.path("alone.h5").read_bytes()


@pytest.mark.parametrize("words, status, message", [
    (("fit", "none.npy", "--components", 2, "--prior", "gamma", "--out", "m.h5"), 1,
     "none.npy: "),
    (("fit", "dense.npy", "--components", 0, "--out", "m.h5"), 2, "components"),
    (("fit", "-", "--components", 2, "--prior", "gamma", "--out", "m.h5"), 2,
     "every rank reads the data by itself"),
    (("fit", "dense.npy", "--components", 2, "--prior", "gamma", "--threads", 2, "--out", "m.h5"),
     2, "a rank has one thread"),
    (("fit", "dense.npy", "--components", 2, "--prior", "gamma", "--shard", "rows", "--out",
      "m.h5"), 2, "shard"),
    (("fit", "dense.npy", "--components", 2, "--prior", "gamma", "--shard", "sequences", "--out",
      "m.h5"), 2, "--round"),
    (("fit", "dense.npy", "--components", 2, "--prior", "gamma", "--out", "none/m.h5"), 1,
     "none/m.h5: cannot be written"),
], ids=["no data", "usage", "a pipe", "threads", "shard", "no rounds", "no folder"])
def test_errors_are_one_line(data, words, status, message):
    done = Ranks(data, 3).attempt(*words)
    assert done.returncode == status
    told = [line for line in done.stderr.decode().splitlines() if line.startswith("headwater-mpi")]
    assert len(told) == 1 and message in told[0]


def test_headwater_itself_has_no_ranks(data):
    done = data.attempt("fit", "dense.npy", "--shard", "channels", "--out", "m.h5")
    assert done.returncode == 2 and b"--shard" in done.stderr
    libraries = subprocess.run(["ldd", data.binary], capture_output=True, check=True).stdout
    assert b"libmpi" not in libraries


@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_rank_ends_the_job_and_any_number_goes_on(headwater, killed):
    headwater.save("counts.npy", np.tile(draw_counts(), (3, 1)))
    words = ("fit", "counts.npy", *PARTICLES, *RANDOM, "--particles", 100, "--components", K,
             "--quiet", "--checkpoint", "state", "--checkpoint-every", 10, "--out")
    line = Ranks(headwater, 3).line(*words, "never.h5")
    with subprocess.Popen(line, cwd=headwater.folder, env=ENVIRONMENT,
                          stderr=subprocess.PIPE) as job:
        end = time.monotonic() + TIMEOUT
        while not headwater.path("state").exists() and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(process_of_rank(killed, job.pid), signal.SIGKILL)
        told = job.communicate(timeout=TIMEOUT)[1].decode()
    assert job.returncode == 1
    # mpirun ends the others by SIGTERM, of which the first rank may still tell.
    ours = [line for line in told.splitlines() if "stopped by SIGTERM" not in line]
    assert ours == [f"headwater-mpi: rank {killed} was ended by signal 9 (Killed), which ends the "
                    "job; --resume continues a checkpoint, on any number of ranks"]
    assert not headwater.path("never.h5").exists()

    state = headwater.path("state").read_bytes()
    headwater("fit", *words[1:-1][:-4], "--out", "alone.h5")
    alone = headwater.path("alone.h5").read_bytes()
    for command in (headwater, Ranks(headwater, 2)):
        headwater.write("state", state)
        command(*words, "resumed.h5", "--resume", "state")
        assert headwater.path("resumed.h5").read_bytes() == alone
