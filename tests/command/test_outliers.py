"""One bad cell does no harm."""

import json

import numpy as np
import pytest
from hidden_markov import selection_chain, simulate
from support import as_csv

BASIS = np.random.default_rng(3).uniform(1, 10, (4, 2))
COUNTS = simulate(selection_chain(2, 0.9, 0.8), BASIS, 600, seed=5)
GLITCH = 4294967295
FITS = {
    "exact": ["--prior", "basis-selection", "--engine", "exact"],
    "beam": ["--prior", "basis-selection", "--engine", "beam"],
    "particle": ["--prior", "relaxed-selection", "--engine", "particle", "--particles", 100],
    "fast": ["--prior", "gamma", "--engine", "fast"],
    "log-gaussian": ["--prior", "log-gaussian", "--engine", "fast"],
    "batch": ["--prior", "basis-selection", "--method", "batch"],
}


def with_glitches(cells):
    counts = COUNTS.copy()
    for t, channel in cells:
        counts[t, channel] = GLITCH
    return counts


def without_rows_of(cells):
    counts = COUNTS.astype(float)
    for t, _ in cells:
        counts[t] = np.nan
    return counts


def fit(headwater, counts, *options):
    headwater.write("counts.csv", as_csv(counts))
    headwater("fit", "counts.csv", "--components", 2, "--out", "m.h5", "--start-on", 300, *options)
    return headwater.facts("m.h5")


@pytest.mark.parametrize("law", ["poisson", "negative-binomial"])
@pytest.mark.parametrize("name", FITS)
def test_a_glitch_is_left_out(headwater, name, law):
    """In the start's buffer and after it: what is learned is what the stream tells in whose place
    these rows are missing."""
    options = [*FITS[name], "--counts", law]
    cells = [(49, 2)] if name == "batch" else [(49, 2), (450, 0)]
    assert fit(headwater, without_rows_of(cells), *options)["outliers"] == 0
    expected = headwater("show", "m.h5", "--basis")
    assert fit(headwater, with_glitches(cells), *options)["outliers"] == len(cells)
    assert headwater("show", "m.h5", "--basis") == expected


def test_the_log_and_the_summary_name_it(headwater):
    headwater.write("counts.csv", as_csv(with_glitches([(449, 1)])))
    done = headwater.attempt("fit", "counts.csv", "--components", 2, "--prior", "basis-selection",
                             "--log", "log", "--out", "m.h5")
    assert b"outliers: 1 observations (the first: 450)" in done.stderr
    lines = [json.loads(line) for line in headwater.path("log").read_text().splitlines()]
    assert [line["t"] for line in lines if line["outlier"]] == [450]


def test_a_new_level_gets_through(headwater):
    counts = COUNTS.copy()
    counts[400:, 1] += 5000
    model = fit(headwater, counts, "--prior", "basis-selection", "--counts", "poisson")
    assert model["outliers"] == 4


def test_outliers_can_be_kept(headwater):
    model = fit(headwater, with_glitches([(450, 1)]), "--prior", "basis-selection", "--outliers",
                "keep")
    assert model["outliers"] == 0
