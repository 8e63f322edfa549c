import numpy as np
import pytest
import scipy.sparse

import headwater


@pytest.fixture(scope="module")
def trials():
    """40 trials of 25 observations: 40 x 25 x 4."""
    return np.stack([headwater.simulate(channels=4, components=2, length=25, seed=i,
                                        basis=np.array([[9.0, 1], [1, 8], [3, 3], [0, 5]])
                                        ).observations for i in range(40)])


@pytest.fixture(scope="module")
def model(trials):
    return headwater.Stream(2).update_many(trials).finish().model()


def saved(stream, path):
    stream.save(path)
    return path.read_bytes()


def test_lengths_cubes_and_the_command_give_the_same_bytes(trials, command, tmp_path):
    flat, lengths = trials.reshape(-1, 4), [25] * 40
    np.save(tmp_path / "Y.npy", trials)
    command("fit", "Y.npy", "--components", 2, "--prior", "basis-selection", "--out", "m.h5",
            "--quiet")
    wanted = (tmp_path / "m.h5").read_bytes()
    out = tmp_path / "p.h5"
    assert saved(headwater.Stream(2).update_many(trials), out) == wanted
    assert saved(headwater.Stream(2).update_many(flat, lengths=lengths), out) == wanted
    sparse = scipy.sparse.csr_matrix(flat)
    assert saved(headwater.Stream(2).update_many(sparse, lengths=lengths), out) == wanted
    halves = headwater.Stream(2).update_many(trials[:17]).update_many(trials[17:])
    assert saved(halves, out) == wanted
    single = headwater.Stream(2)
    for trial in trials:
        for t, y in enumerate(trial):
            single.update(y, new_sequence=t == 0)
    assert saved(single, out) == wanted
    assert saved(headwater.Stream(2).update_many(flat), out) != wanted


def test_each_sequence_stands_for_itself(trials, model):
    score = model.score(trials)
    alone = [model.score(trial) for trial in trials]
    assert score.sequences == 40 and score.observations == 1000
    assert score.log_likelihood == pytest.approx(sum(s.log_likelihood for s in alone), abs=1e-9)
    np.testing.assert_array_equal(score.log_predictive[25:50], alone[1].log_predictive)
    for smooth in False, True:
        x = model.apply(trials, smooth=smooth)
        assert x.shape == (40, 25, 2)
        np.testing.assert_allclose(x[7], model.apply(trials[7], smooth=smooth), rtol=1e-12,
                                   atol=1e-14)
    assert model.predict(trials).shape == trials.shape
    uneven = [3, 10, 987]
    flat = trials.reshape(-1, 4)
    np.testing.assert_array_equal(model.apply(flat, lengths=uneven)[3:13], model.apply(flat[3:13]))


def test_lengths_that_are_none(trials):
    flat = trials.reshape(-1, 4)
    for lengths, message in [([999], "add up to 999"), ([1000, 0], "1 or more"),
                             ([999.5, 0.5], "whole numbers"), ([[1000]], "a list")]:
        with pytest.raises(ValueError, match=message):
            headwater.Stream(2).update_many(flat, lengths=lengths)
    with pytest.raises(ValueError, match="lengths are given too"):
        headwater.Stream(2).update_many(trials, lengths=[1000])
