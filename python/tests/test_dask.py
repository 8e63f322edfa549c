"""Fits on a Dask cluster: the same bytes for any number of workers, and whatever becomes of them."""

import os
import signal
import time

import numpy as np
import pytest

import headwater

distributed = pytest.importorskip("distributed", reason="the package distributed is not installed")
dask = pytest.importorskip("dask")

import headwater.dask

# What the package distributed warns of when workers die, or a port is taken.
pytestmark = pytest.mark.filterwarnings("ignore")
OPTIONS = dict(num_components=2, prior="basis-selection", round=8, start_on=200, seed=3)
BASIS = np.array([[9.0, 1], [1, 8], [3, 3], [0, 5]])


@pytest.fixture(scope="module")
def trials():
    return [headwater.simulate(channels=4, components=2, length=15 + i % 7, seed=i,
                               basis=BASIS).observations for i in range(40)]


@pytest.fixture(scope="module")
def wanted(trials, tmp_path_factory):
    lengths = [len(trial) for trial in trials]
    stream = headwater.Stream(**OPTIONS).update_many(np.concatenate(trials), lengths=lengths)
    return saved(stream, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def saved(stream, folder):
    stream.save(folder / "model.h5")
    return (folder / "model.h5").read_bytes()


def scale(cluster, client, workers):
    """Not by client.wait_for_workers(): it replaces what the cluster knows of its workers, and a
    worker that is leaving at that moment is then removed twice (a KeyError when it is closed)."""
    cluster.scale(workers)
    deadline = time.monotonic() + 300
    while len(client.nthreads()) != workers:
        assert time.monotonic() < deadline, f"the cluster does not come to {workers} workers"
        time.sleep(0.05)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_bytes_of_one_process(cluster, client, trials, wanted,
                                                              tmp_path, workers):
    scale(cluster, client, workers)
    assert saved(headwater.dask.fit(client, trials, **OPTIONS), tmp_path) == wanted


def _read(name):
    return np.load(name)


def _die_once(flag, trial):
    """Kills the process that computes it, the first time."""
    if not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return trial


def test_a_worker_that_is_killed_changes_nothing(cluster, client, trials, wanted, tmp_path):
    scale(cluster, client, 2)
    flag = tmp_path / "died"
    sequences = list(trials)
    sequences[29] = dask.delayed(_die_once)(str(flag), trials[29])  # in the fourth round
    assert saved(headwater.dask.fit(client, sequences, **OPTIONS), tmp_path) == wanted
    assert flag.exists()


def test_sequences_of_every_form(cluster, client, trials, wanted, tmp_path):
    array = pytest.importorskip("dask.array")
    for i in range(len(trials)):
        np.save(tmp_path / f"{i}.npy", trials[i])
    files = [tmp_path / f"{i}.npy" for i in range(len(trials))]
    assert saved(headwater.dask.fit(client, files, **OPTIONS), tmp_path) == wanted
    mixed = [dask.delayed(_read)(files[i]) if i % 3 == 0 else
             array.from_array(trials[i], chunks=10) if i % 3 == 1 else trials[i]
             for i in range(len(trials))]
    assert saved(headwater.dask.fit(client, mixed, **OPTIONS), tmp_path) == wanted


def test_exposures_and_particles(cluster, client, trials, tmp_path):
    options = dict(num_components=2, prior="gamma", round=5, num_particles=50, counts="poisson",
                   init=BASIS + 1)
    exposures = [np.full(len(trial), 0.5 + i % 2) for i, trial in enumerate(trials)]
    stream = headwater.Stream(**options).update_many(
        np.concatenate(trials), lengths=[len(trial) for trial in trials],
        exposure=np.concatenate(exposures))
    fitted = headwater.dask.fit(client, trials, exposures=exposures, **options)
    assert saved(fitted, tmp_path) == saved(stream, tmp_path)


def _broken():
    raise OSError("the disk is on fire")


def test_fit_each_goes_on_and_tells_what_failed(client, trials, tmp_path):
    options = dict(num_components=2, prior="basis-selection", counts="poisson", init=BASIS)
    streams = {"first": trials[0], "second": dask.delayed(_broken)(), "third": trials[2]}
    with pytest.warns(UserWarning, match="1 of 3 streams could not be fitted .second: OSError"):
        fits = headwater.dask.fit_each(client, streams, folder=tmp_path / "fits", **options)
    assert fits.failures == {"second": "OSError: the disk is on fire"}
    assert sorted(fits.models) == ["first", "third"]
    wanted = headwater.Stream(**options).update_many(trials[0]).ended()
    np.testing.assert_array_equal(fits.load("first").basis, wanted.basis)
    # Repeated: what is there is not touched, what failed is tried again.
    before = fits.models["first"].stat().st_mtime_ns
    streams["second"] = trials[1]
    again = headwater.dask.fit_each(client, streams, folder=tmp_path / "fits", **options)
    assert sorted(again.models) == ["first", "second", "third"] and not again.failures
    assert fits.models["first"].stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="was begun with other arguments"):
        headwater.dask.fit_each(client, streams, folder=tmp_path / "fits", **{**options, "seed": 2})


def test_what_cannot_be(client, trials, tmp_path):
    with pytest.raises(ValueError, match="round is missing"):
        headwater.dask.fit(client, trials, 2)
    with pytest.raises(ValueError, match="there are no sequences"):
        headwater.dask.fit(client, [], 2, round=4)
    with pytest.raises(ValueError, match="expected a list"):
        headwater.dask.fit(client, "trials.npy", 2, round=4)
    with pytest.raises(ValueError, match="exposures has 1 entries; expected 40"):
        headwater.dask.fit(client, trials, 2, round=4, exposures=[1])
    with pytest.raises(ValueError, match="sequence 3: .* 3 channels; expected 4"):  # in the start
        headwater.dask.fit(client, trials[:2] + [trials[2][:, :3]], **OPTIONS)
    with pytest.raises(ValueError, match="sequence 31 has 3 channels; expected 4"):  # in a round
        headwater.dask.fit(client, trials[:30] + [trials[30][:, :3]], **OPTIONS)
    with pytest.raises(ValueError, match="cannot be the name of a file"):
        headwater.dask.fit_each(client, {"a/b": trials[0]}, 2, folder=tmp_path)
