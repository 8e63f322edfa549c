"""Fits that numbers beyond arithmetic, or impossible observations, would spoil."""

import json

import numpy as np


def test_a_fit_without_a_finite_estimate_is_no_model(command):
    command.save("y.npy", np.full((200, 3), 1e300))
    command.save("start.npy", np.full((3, 2), 1e-308))
    done = command.attempt("fit", "y.npy", "--components", 2, "--prior", "gamma", "--engine",
                           "particle", "--particles", 50, "--init", "start.npy", "--out", "m.h5")
    assert done.returncode == 1
    assert b"finite estimate" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not command.path("m.h5").exists()


def test_one_impossible_observation_leaves_a_finite_likelihood(command):
    counts = np.ones((50, 3))
    counts[:, 2] = 0
    counts[20, 2] = 4  # in a channel that no column reaches
    command.save("y.npy", counts)
    command.save("start.npy", [[1, 1], [1, 1], [0, 0]])
    command("fit", "y.npy", "--components", 2, "--prior", "basis-selection", "--init", "start.npy",
            "--hold", "basis", "--out", "m.h5", "--quiet")
    shown = json.loads(command("show", "m.h5", "--json"))
    assert np.isfinite(shown["log_likelihood"])
    assert shown["impossible_observations"] == 1
    score = json.loads(command("score", "m.h5", "y.npy", "--json"))
    assert np.isfinite(score["log_likelihood"])
    assert score["impossible_observations"] == 1
