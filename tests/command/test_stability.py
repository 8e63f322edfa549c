"""--restarts: how many of the fits have found each component."""

import itertools

import numpy as np

from hidden_markov import selection_chain, simulate
from support import as_csv

BASIS = np.array([[9, 0.5], [0.5, 8], [6, 1], [1, 7.0]])


def matched_cosines(basis, other):
    """By trying every way to pair the columns."""
    unit = [b / np.linalg.norm(b, axis=0) for b in (basis, other)]
    cosines = unit[0].T @ unit[1]
    ways = itertools.permutations(range(len(cosines)))
    best = max(ways, key=lambda way: cosines[range(len(way)), way].sum())
    return cosines[range(len(best)), best]


def test_restarts_say_how_often_each_component_was_found(headwater):
    data = headwater.write("y.csv", as_csv(simulate(selection_chain(2, 0.8, 0.7), BASIS, 260, 41)))
    fit = ("fit", data, "--components", 3, "--prior", "basis-selection", "--counts", "poisson",
           "--init", "random")
    done = headwater.attempt(*fit, "--restarts", 3, "--out", "best.h5")
    assert done.returncode == 0
    facts = headwater.facts("best.h5")
    for seed in 1, 2, 3:
        headwater(*fit, "--seed", seed, "--out", f"{seed}.h5")
    basis = headwater.basis("best.h5")
    found = np.ones(3, dtype=int)
    for seed in {1, 2, 3} - {facts["seed"]}:
        found += matched_cosines(basis, headwater.basis(f"{seed}.h5")) >= 0.95
    assert len(set(found)) > 1  # two sources: the third column differs from seed to seed
    assert facts["stability"] == {"restarts": 3, "found": found.tolist()}
    line = ("how many of 3 restarts found each component: " +
            ", ".join(f"component {k + 1}: {count}" for k, count in enumerate(found)) + "\n")
    assert line in done.stderr.decode()
    assert line in headwater("show", "best.h5").decode()
    assert "stability" not in headwater.facts("1.h5")
    assert any("other seeds" in note for note in facts["warnings"]) == any(2 * found <= 4)
