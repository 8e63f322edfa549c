"""A fit ends with a finite estimate, or with exit 1, one line and no model."""

import json

import numpy as np
import pytest

from support import as_csv, held_model

PRIORS = ["basis-selection", "relaxed-selection", "log-gaussian", "gamma", "independent", "finite"]
FIT = ["--components", 2, "--particles", 50, "--out", "model.h5"]


def fit(headwater, *arguments):
    """None if the fit leads to a model that can be shown, or else its error."""
    done = headwater.attempt("fit", *arguments, *FIT)
    if done.returncode == 0:
        facts = headwater.facts("model.h5")
        assert np.isfinite(headwater.basis("model.h5")).all()
        assert np.isfinite(facts["log_likelihood"])
        return None
    assert done.returncode in (1, 2) and done.stderr.count(b"\n") == 1
    assert not headwater.path("model.h5").exists()
    return done.stderr.decode()


@pytest.fixture
def counts(headwater):
    y = np.random.default_rng(1).poisson(3, size=(60, 3)).astype(float)
    headwater.write("y.csv", as_csv(y))
    return y


@pytest.mark.parametrize("count", ["1.1e15", "1e100", "1e200", "1e308", "1.7e308", "1e400"])
def test_a_count_out_of_range_is_refused(headwater, counts, count):
    rows = as_csv(counts).splitlines(True)
    headwater.write("y.csv", "".join(rows[:5] + [f"1,{count},2\n"] + rows[5:]))
    assert fit(headwater, "y.csv", "--prior", "basis-selection") == (
        f"headwater: y.csv:6: column 2: '{count}' is out of range; observations must be at most "
        "1e+15\n")


def test_a_count_out_of_range_is_refused_in_every_format(headwater, counts):
    counts[5, 1] = 1e100
    headwater.save("y.npy", counts)
    headwater.write("y.jsonl", "".join(json.dumps(list(row)) + "\n" for row in counts))
    headwater.write("y.mtx", "%%MatrixMarket matrix coordinate real general\n60 3 2\n6 2 1e100\n"
                             "7 2 1\n")
    for name in ("y.npy", "y.jsonl", "y.mtx"):
        assert "out of range; observations must be at most 1e+15" in fit(
            headwater, name, "--prior", "basis-selection")


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("scale", [1e-15, 1e-9, 1e12])
def test_counts_within_the_range_can_be_fitted(headwater, counts, prior, scale):
    headwater.write("y.csv", as_csv(counts * scale))
    assert fit(headwater, "y.csv", "--prior", prior) is None


@pytest.mark.parametrize("exposure", ["1e100", "1e300", "1e-300", "1e-16", "1.1e15"])
def test_an_exposure_out_of_range_is_refused(headwater, counts, exposure):
    headwater.write("e.csv", "1\n" * 20 + exposure + "\n" + "1\n" * 39)
    error = fit(headwater, "y.csv", "--exposure", "e.csv", "--prior", "basis-selection")
    assert "1e+15" in error


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("exposure", ["1e-15", "1e15"])
def test_exposures_within_the_range_can_be_used(headwater, counts, prior, exposure):
    headwater.write("e.csv", (exposure + "\n") * 60)
    fit(headwater, "y.csv", "--exposure", "e.csv", "--prior", prior)


@pytest.mark.parametrize("prior, setting", [
    ("gamma", "shape=1e-9"), ("independent", "shape=1e-9"), ("gamma", "shape=1e9"),
    ("log-gaussian", "noise=1e-9"), ("log-gaussian", "noise=1e9"), ("log-gaussian", "noise=1e308"),
    ("gamma", "persistence=1"), ("basis-selection", "stay_on=1"), ("relaxed-selection", "alpha=0")])
def test_a_parameter_out_of_range_is_refused(headwater, counts, prior, setting):
    error = fit(headwater, "y.csv", "--prior", prior, "--set", setting)
    assert "expected a number" in error and setting.partition("=")[0] in error


@pytest.mark.parametrize("prior, setting", [
    ("gamma", "shape=0.001"), ("independent", "shape=0.001"), ("gamma", "shape=1e6"),
    ("independent", "shape=1e6"), ("log-gaussian", "noise=1e-6"), ("log-gaussian", "noise=100"),
    ("gamma", "persistence=1e-300"), ("gamma", "persistence=0.9999999999999999"),
    ("log-gaussian", "persistence=0.9999999999999999"), ("log-gaussian", "persistence=-0.99999999"),
    ("basis-selection", "stay_on=1e-300"), ("basis-selection", "stay_off=0.9999999999999999"),
    ("relaxed-selection", "alpha=1e-300"), ("relaxed-selection", "alpha=0.9999999999999999")])
@pytest.mark.parametrize("engine", ["auto", "fast"])
def test_parameters_within_the_range_lead_to_a_model_or_one_line(headwater, counts, prior, setting,
                                                                 engine):
    fit(headwater, "y.csv", "--prior", prior, "--set", setting, "--engine", engine)


@pytest.mark.parametrize("entry", ["1e-308", "1e-320", "1e16", "1e100", "1e308"])
def test_a_starting_basis_out_of_range_is_refused(headwater, counts, entry):
    headwater.write("b.csv", f"1,1\n1,{entry}\n1,1\n")
    error = fit(headwater, "y.csv", "--init", "b.csv", "--prior", "basis-selection")
    assert "1e+15" in error


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("entry", ["1e-200", "1e-100", "1e15"])
def test_a_starting_basis_within_the_range_leads_to_a_model_or_one_line(headwater, counts, prior,
                                                                        entry):
    headwater.write("b.csv", f"{entry},{entry}\n" * 3)
    fit(headwater, "y.csv", "--init", "b.csv", "--prior", prior)


def test_an_impossible_observation_leaves_the_sum_finite(headwater):
    held_model(headwater, "model.h5", np.array([[5.0, 1.0], [0.0, 0.0], [1.0, 4.0]]), 0.9, 0.7)
    y = np.array([[3, 0, 2], [4, 7, 1], [2, 0, 2.0]])
    headwater.write("y.csv", as_csv(y))
    score = headwater.score("model.h5", "y.csv")
    assert np.isfinite(score["log_likelihood"])
    assert score["impossible_observations"] == 1
    headwater("apply", "model.h5", "y.csv", "--out", "x.csv")
    headwater("apply", "model.h5", "y.csv", "--smooth", "--out", "s.csv")
    assert np.isfinite(headwater.load("x.csv")).all() and np.isfinite(headwater.load("s.csv")).all()
