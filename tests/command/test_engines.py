"""The beam and fast engines from outside, and the choice of an engine."""

import json

import numpy as np
import pytest

from support import held_model, settings

STAY_OFF, STAY_ON = 0.8571, 0.6926
AFFINE = {
    "log-gaussian": dict(persistence=0.8, noise=0.4),
    "gamma": dict(shape=2, persistence=0.7),
    "independent": dict(shape=2),
}


@pytest.fixture(scope="module")
def selection(shared_headwater):
    """A stream of few sources with missing cells, and a model with the true parameters."""
    command = shared_headwater
    command("simulate", "--prior", "basis-selection",
            *settings(stay_off=STAY_OFF, stay_on=STAY_ON), "--channels", 6, "--components", 3,
            "--scale", 3, "--length", 200, "--seed", 4, "--out", "y.npy", "--save-basis", "b.npy")
    counts = command.load("y.npy").astype(float)
    counts[17, 2] = counts[40] = np.nan
    command.save("y.npy", counts)
    held_model(command, "truth.h5", command.load("b.npy"), STAY_OFF, STAY_ON)
    return command


@pytest.fixture(scope="module")
def many(shared_headwater):
    """A stream with too many sources for the exact engine."""
    command = shared_headwater
    command("simulate", "--prior", "basis-selection", "--channels", 30, "--components", 16,
            "--scale", 3, "--length", 120, "--seed", 4, "--out", "many.npy", "--save-basis",
            "many_b.npy")
    command("fit", "many.npy", "--prior", "basis-selection", "--components", 16, "--init",
            "many_b.npy", "--beam-width", 40, "--out", "many.h5", "--log", "many.jsonl")
    return command


def log_of(command, name):
    return [json.loads(line) for line in command.path(name).read_text().splitlines()]


def test_a_wide_beam_is_the_exact_engine(selection):
    exact = selection.score("truth.h5", "y.npy")["log_likelihood"]
    beam = selection.score("truth.h5", "y.npy", "--engine", "beam")["log_likelihood"]
    assert beam == pytest.approx(exact, abs=1e-9)
    for flags in [], ["--smooth"]:
        found = []
        for engine in "exact", "beam":
            selection("apply", "truth.h5", "y.npy", "--engine", engine, "--out", "x.npy", *flags)
            found.append(selection.load("x.npy"))
        # The smoothing lag is such that at most 1e-6 of a difference in the state survives it.
        assert np.abs(found[0] - found[1]).max() < (1e-5 if flags else 1e-12)


def test_a_wide_beam_learns_what_the_exact_engine_learns(selection):
    found = {}
    for engine in "exact", "beam":
        selection("fit", "y.npy", "--prior", "basis-selection", "--components", 3, "--init",
                  "b.npy", "--engine", engine, "--lag", 10, "--out", f"{engine}.h5")
        found[engine] = selection.basis(f"{engine}.h5")
        assert selection.facts(f"{engine}.h5")["engine"] == engine
    assert np.abs(found["exact"] - found["beam"]).max() < 1e-9


def test_the_beam_says_what_it_loses(many):
    facts = many.facts("many.h5")
    assert facts["engine"] == "beam"
    assert "16384 states" in facts["engine_reason"]
    steps = log_of(many, "many.jsonl")
    assert len(steps) == 120
    assert all(0 <= step["lost_mass"] <= 1 and 1 <= step["states"] <= 40 for step in steps)
    assert facts["lost_mass"] == pytest.approx(np.mean([step["lost_mass"] for step in steps]))


def test_many_sources_are_applied_and_scored(many):
    assert np.isfinite(many.score("many.h5", "many.npy")["log_likelihood"])
    for flags in [], ["--smooth"]:
        many("apply", "many.h5", "many.npy", "--beam-width", 30, "--out", "many_x.npy", *flags)
        x = many.load("many_x.npy")
        assert x.shape == (120, 16)
        assert np.all((x >= 0) & (x <= 1 + 1e-12))


@pytest.mark.parametrize("prior", AFFINE)
def test_the_fast_engine_fits_applies_and_scores(headwater, prior):
    headwater("simulate", "--prior", prior, *settings(**AFFINE[prior]), "--channels", 8,
              "--components", 2, "--scale", 5, "--length", 400, "--seed", 3, "--out", "y.npy",
              "--save-activations", "x.npy", "--save-basis", "b.npy")
    headwater("fit", "y.npy", "--prior", prior, *settings(**AFFINE[prior]), "--components", 2,
              "--init", "b.npy", "--engine", "fast", "--out", "m.h5")
    facts = headwater.facts("m.h5")
    assert facts["engine"] == "fast"
    assert "engine_reason" not in facts
    truth = headwater.load("x.npy")
    for flags in [], ["--smooth"]:
        headwater("apply", "m.h5", "y.npy", "--engine", "fast", "--out", "found.npy", *flags)
        found = headwater.load("found.npy")
        for k in range(2):
            assert np.corrcoef(found[:, k], truth[:, k])[0, 1] > 0.8
    fast = headwater.score("m.h5", "y.npy", "--engine", "fast")["per_observation"]
    particle = headwater.score("m.h5", "y.npy", "--engine", "particle")["per_observation"]
    assert abs(fast - particle) < 0.2


@pytest.mark.parametrize("engine, prior", [("beam", "basis-selection"), ("fast", "log-gaussian")])
def test_threads_change_no_byte(headwater, engine, prior):
    headwater("simulate", "--prior", prior, "--channels", 8, "--components", 3, "--length", 150,
              "--seed", 3, "--out", "y.npy")
    models = []
    for threads in 1, 2, 3:
        headwater("fit", "y.npy", "--prior", prior, "--components", 3, "--engine", engine,
                  "--beam-width", 4, "--threads", threads, "--out", f"{threads}.h5")
        models.append(headwater.path(f"{threads}.h5").read_bytes())
    assert models[0] == models[1] == models[2]


def test_auto_says_what_it_chose_and_why(headwater):
    headwater("simulate", "--prior", "gamma", "--channels", 8, "--components", 2, "--length", 60,
              "--seed", 3, "--out", "y.npy")
    for prior, components, engine in (("gamma", 2, "particle"), ("basis-selection", 2, "exact"),
                                      ("gamma", 51, "fast"), ("relaxed-selection", 2, "particle")):
        done = headwater.attempt("fit", "y.npy", "--prior", prior, "--components", components,
                                 "--init", "random", "--particles", 20, "--out", "m.h5")
        facts = headwater.facts("m.h5")
        assert facts["engine"] == engine
        assert facts["engine_reason"]
        assert f"engine {engine}: {facts['engine_reason']}" in done.stderr.decode()


@pytest.mark.parametrize("words, expected", [
    (["--prior", "gamma", "--engine", "beam"], "infinitely many states"),
    (["--prior", "relaxed-selection", "--engine", "fast"], "fast engine"),
    (["--prior", "gamma", "--engine", "fast", "--smoother", "paris"], "smoother 'paris' requires engine 'particle'"),
    (["--prior", "basis-selection", "--engine", "beam", "--paper-exact"], "paper-exact"),
    (["--prior", "basis-selection", "--engine", "beam", "--beam-width", "0"],
     "--beam-width 0: expected a whole number from 1 to 1000000"),
    (["--prior", "gamma", "--engine", "slow"], "expected one of auto, exact, beam"),
])
def test_what_an_engine_cannot_do_is_one_clear_line(headwater, words, expected):
    headwater.save("y.npy", np.ones((5, 3)))
    done = headwater.attempt("fit", "y.npy", "--components", 2, "--out", "m.h5", *words)
    assert done.returncode == 2
    assert expected in done.stderr.decode()
    assert done.stderr.decode().count("\n") == 1


def test_a_slow_fit_says_so_before_it_begins(headwater):
    headwater.save("y.npy", np.ones((2, 4)))
    arguments = ["y.npy", "--prior", "relaxed-selection", "--components", 1, "--init", "random",
                 "--smoother", "forward", "--particles", 8000, "--out", "m.h5"]
    line = ("engine 'particle' needs about 0.1 seconds an observation: smoother 'forward' compares "
            "8000 particles with each other; to be faster, use fewer particles, or smoother 'lag' "
            "or 'paris'")
    told = headwater.attempt("fit", *arguments)
    assert told.returncode == 0 and told.stderr.decode().splitlines()[0] == line
    assert headwater.attempt("fit", *arguments, "--quiet").stderr == b""
