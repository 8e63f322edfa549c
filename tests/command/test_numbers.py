"""Fits that impossible observations would spoil. test_ranges.py has numbers beyond arithmetic."""

import json

import numpy as np


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
