"""Fits by rounds, on one machine."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import headwater

OPTIONS = dict(num_components=2, prior="basis-selection", round=8, start_on=200)


@pytest.fixture(scope="module")
def trials():
    """60 trials of 20 observations: 60 x 20 x 4."""
    basis = np.array([[9.0, 1], [1, 8], [3, 3], [0, 5]])
    return np.stack([headwater.simulate(channels=4, components=2, length=20, seed=i,
                                        basis=basis).observations for i in range(60)])


def saved(stream, path):
    stream.save(path)
    return path.read_bytes()


def by_hand(trials, **options):
    """As a cluster would do it: statistics from pickled rounds, merged from the last one on."""
    stream = headwater.Stream(**OPTIONS, **options)
    given = 0
    while stream.wants_start:
        stream.update_many(trials[given:given + 1])
        given += 1
    stream.begin_rounds()
    for first in range(0, len(trials), 8):
        round = pickle.loads(pickle.dumps(stream.next_round()))
        assert round.first == first
        parts = [pickle.loads(pickle.dumps(round.statistics(trial, first + i)))
                 for i, trial in enumerate(trials[first:first + 8])]
        while len(parts) > 1:
            parts.append(parts.pop().merge(parts.pop()))
        stream.take_in(parts[0])
    return stream.finish()


def test_the_command_and_rounds_by_hand_give_the_same_bytes(trials, command, tmp_path):
    np.save(tmp_path / "Y.npy", trials)
    command("fit", "Y.npy", "--components", 2, "--prior", "basis-selection", "--round", 8,
            "--start-on", 200, "--out", "m.h5", "--quiet")
    wanted = (tmp_path / "m.h5").read_bytes()
    out = tmp_path / "p.h5"
    assert saved(headwater.Stream(**OPTIONS).update_many(trials), out) == wanted
    assert saved(headwater.Stream(**OPTIONS, num_threads=3).update_many(trials), out) == wanted
    assert saved(by_hand(trials), out) == wanted
    assert saved(headwater.Stream(**{**OPTIONS, "round": 7}).update_many(trials), out) != wanted


def test_statistics_of_every_form_are_the_same(trials, tmp_path):
    stream = headwater.Stream(2, round=4, init=np.ones((4, 2)) + np.eye(4)[:, :2])
    stream.update_many(trials[:1])
    assert not stream.wants_start
    stream.begin_rounds()
    wanted = stream.statistics(trials[3], 2)
    assert (wanted.sequences, wanted.observations) == (1, 20)
    np.save(tmp_path / "one.npy", trials[3])
    for form in (scipy.sparse.csr_matrix(trials[3]), trials[3].tolist(), tmp_path / "one.npy",
                 np.asfortranarray(trials[3])):
        assert stream.statistics(form, 2) == wanted
    assert stream.statistics(trials[3], 2, exposure=np.ones(20)) == wanted
    assert stream.statistics(trials[3], 2, exposure=np.full(20, 2.0)) != wanted
    other = stream.statistics(trials[4])  # the first of the round
    assert wanted.merge(other) == other.merge(wanted)
    assert wanted.merge(other).observations == 40


def test_what_cannot_be(trials, tmp_path):
    stream = headwater.Stream(2, round=4, init=np.ones((4, 2)) + np.eye(4)[:, :2])
    with pytest.raises(ValueError, match="before the start"):
        stream.next_round()
    stream.update_many(trials[:1]).begin_rounds()
    one = stream.statistics(trials[0], 0)
    with pytest.raises(ValueError, match="sequence 1 is in both"):
        one.merge(one)
    with pytest.raises(ValueError, match="lack sequence 1"):
        stream.take_in(stream.statistics(trials[1], 1))
    with pytest.raises(ValueError, match="sequence 1 has 3 channels; expected 4"):
        stream.statistics(trials[0][:, :3], 0)
    with pytest.raises(ValueError, match="3 dimensions"):
        stream.statistics(trials[:2], 0)
    np.save(tmp_path / "several.npy", trials[:2])
    with pytest.raises(ValueError, match="several.npy: has several sequences; expected one"):
        stream.statistics(tmp_path / "several.npy", 0)
    with pytest.raises(ValueError, match="begin_rounds"):
        headwater.Stream(2, round=4).take_in(one)
    with pytest.raises(ValueError, match="round is 0"):
        headwater.Stream(2).begin_rounds()
    with pytest.raises(ValueError, match="without restarts"):
        headwater.Stream(2, round=4, restarts=2).begin_rounds()
