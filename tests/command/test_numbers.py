"""Fits that numbers beyond arithmetic, or impossible observations, would spoil."""

import json

import numpy as np


def test_a_fit_without_a_finite_estimate_is_no_model(headwater):
    headwater.save("y.npy", np.full((200, 3), 1e300))
    headwater.save("start.npy", np.full((3, 2), 1e-308))
    done = headwater.attempt("fit", "y.npy", "--components", 2, "--prior", "basis-selection",
                             "--init", "start.npy", "--out", "m.h5")
    assert done.returncode == 1
    assert b"finite estimate" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not headwater.path("m.h5").exists()


def test_one_impossible_observation_leaves_a_finite_likelihood(headwater):
    counts = np.ones((50, 3))
    counts[:, 2] = 0
    counts[20, 2] = 4  # in a channel that no column reaches
    headwater.save("y.npy", counts)
    headwater.save("start.npy", [[1, 1], [1, 1], [0, 0]])
    headwater("fit", "y.npy", "--components", 2, "--prior", "basis-selection",
              "--init", "start.npy", "--hold", "basis", "--out", "m.h5", "--quiet")
    shown = json.loads(headwater("show", "m.h5", "--json"))
    assert np.isfinite(shown["log_likelihood"])
    assert shown["impossible_observations"] == 1
    score = json.loads(headwater("score", "m.h5", "y.npy", "--json"))
    assert np.isfinite(score["log_likelihood"])
    assert score["impossible_observations"] == 1
