"""--prior auto: the start chooses the law of the activations."""

import json

import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import as_csv

BASIS = np.array([[9, 0.5], [0.5, 8], [6, 1], [1, 7.0]])
OPTIONS = ("--components", 2, "--prior", "auto", "--counts", "poisson", "--particles", 50)
LENGTH = 260


@pytest.fixture
def data(headwater):
    return headwater.write("y.csv", as_csv(simulate(selection_chain(2, 0.8, 0.7), BASIS, LENGTH, 41)))


def test_the_choice_is_told_everywhere(headwater, data):
    done = headwater.attempt("fit", data, *OPTIONS, "--log", "log", "--out", "m.h5")
    assert done.returncode == 0
    facts = headwater.facts("m.h5")
    table = facts["choice_of_prior"]
    chosen = [row for row in table if row["chosen"]]
    assert [row["prior"] for row in chosen] == ["basis-selection"] == [facts["prior"]["name"]]
    assert {row["prior"] for row in table} == {"gamma", "log-gaussian", "basis-selection",
                                               "relaxed-selection", "independent"}
    assert chosen[0]["standard_error"] == 0 and chosen[0]["counts"] == "poisson"
    following = max((row for row in table if not row["chosen"]), key=lambda row: row["score"])
    told = (f"prior basis-selection: predicts held-out observations better than the "
            f"second best, {following['prior']}, by "
            f"{chosen[0]['score'] - following['score']:.3g} nats an observation "
            f"(standard error {following['standard_error']:.2g})")
    assert told in done.stderr.decode()
    assert told in headwater("show", "m.h5").decode()
    lines = [json.loads(line) for line in headwater.path("log").read_text().splitlines()]
    assert all(line["prior"] == "gamma" and set(line["parameters"]) == {"shape", "persistence"}
               for line in lines if line["provisional"])
    assert lines[0]["provisional"] and not lines[-1]["provisional"]
    assert all(len(line["parameters"]) >= 1 for line in lines)
    # A prior that was asked for is not named line by line.
    headwater("fit", data, "--components", 2, "--prior", "gamma", "--particles", 20, "--log", "log",
              "--out", "g.h5")
    assert "prior" not in json.loads(headwater.path("log").read_text().splitlines()[0])
    assert "choice_of_prior" not in headwater.facts("g.h5")


def test_the_model_is_that_of_the_prior_alone(headwater, data):
    headwater("fit", data, *OPTIONS, "--out", "auto.h5")
    headwater("fit", data, "--components", 2, "--prior", "basis-selection", "--counts", "poisson",
              "--particles", 50, "--out", "alone.h5")
    assert headwater("show", "auto.h5", "--basis") == headwater("show", "alone.h5", "--basis")


def test_a_fit_that_was_put_away_goes_on(headwater, data):
    headwater("fit", data, *OPTIONS, "--log", "whole", "--out", "whole.h5")
    lines = headwater.path("y.csv").read_text().splitlines(keepends=True)
    for rows in 30, 215:
        headwater.write("part.csv", "".join(lines[:rows]))
        headwater("fit", "part.csv", *OPTIONS, "--log", "log", "--checkpoint", "state", "--out",
                  "part.h5")
        headwater("fit", data, *OPTIONS, "--log", "log", "--resume", "state", "--out", "resumed.h5")
        assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
        assert headwater.path("log").read_bytes() == headwater.path("whole").read_bytes()
    done = headwater.attempt("fit", data, "--components", 2, "--prior", "gamma", "--counts",
                             "poisson", "--particles", 50, "--resume", "state", "--out", "o.h5")
    assert done.returncode == 1
    assert b"belongs to a fit with prior auto; this one has prior gamma" in done.stderr


def test_a_model_is_continued_with_the_prior_that_was_chosen(headwater, data):
    headwater("fit", data, *OPTIONS, "--out", "m.h5")
    for words in [], ["--prior", "auto"], ["--prior", "basis-selection"]:
        headwater("fit", data, "--continue", "m.h5", *words, "--out", "more.h5")
        facts = headwater.facts("more.h5")
        assert facts["prior"]["name"] == "basis-selection"
        assert facts["observations"] == 2 * LENGTH
    done = headwater.attempt("fit", data, "--continue", "m.h5", "--prior", "gamma", "--out", "n.h5")
    assert done.returncode == 2
    assert b"prior is gamma; the model that is continued has basis-selection" in done.stderr


@pytest.mark.parametrize("words", [
    ["--components", "1..2"], ["--restarts", 2], ["--period", 6], ["--method", "batch"],
    ["--background"], ["--counts", "auto"], ["--standard-errors"]], ids=lambda words: words[0])
def test_goes_with_other_options(headwater, data, words):
    headwater("fit", data, *OPTIONS, *words, "--out", "m.h5")
    facts = headwater.facts("m.h5")
    chosen = [row["prior"] for row in facts["choice_of_prior"] if row["chosen"]]
    assert chosen == [facts["prior"]["name"]]
    if words[0] == "--components":
        assert len(facts["choice_of_components"]) == 2


@pytest.mark.parametrize("words, message", [
    (["--set", "shape=2"], b"'shape' is a parameter of gamma and independent only, and prior auto "
                           b"chooses among several priors; to give parameters, name the prior"),
    (["--set", "persistence=.9"], b"'persistence' is a parameter of log-gaussian and gamma only"),
    (["--hold", "alpha"], b"'alpha' is a parameter of relaxed-selection only"),
    (["--set", "colour=3"], b"no prior has a parameter 'colour'"),
    (["--states", "y.csv"], b"'states' is a parameter of finite only"),
    (["--init", "random"], b"prior auto needs the search for a start, which init random "
                           b"leaves out"),
    (["--paper-exact"], b"which paper-exact leaves out"),
])
def test_what_it_cannot_go_with_is_one_clear_line(headwater, data, words, message):
    done = headwater.attempt("fit", data, *OPTIONS[:4], *words, "--out", "m.h5")
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count(b"\n") == 1
    assert not headwater.path("m.h5").exists()


def test_a_basis_that_is_given_leaves_nothing_to_choose(headwater, data):
    headwater.save("b.npy", BASIS)
    done = headwater.attempt("fit", data, *OPTIONS, "--init", "b.npy", "--out", "m.h5")
    assert done.returncode == 2
    assert b"which a starting basis leaves out" in done.stderr


def test_simulate_needs_a_prior(headwater):
    done = headwater.attempt("simulate", "--prior", "auto", "--channels", 3, "--components", 2,
                             "--length", 5, "--out", "y.csv")
    assert done.returncode == 2
    assert b"unknown prior 'auto'" in done.stderr


def test_too_few_observations_leave_the_first_prior(headwater):
    headwater.write("y.csv", as_csv(simulate(selection_chain(2, 0.8, 0.7), BASIS, 25, 41)))
    headwater("fit", "y.csv", *OPTIONS, "--out", "m.h5")
    facts = headwater.facts("m.h5")
    assert facts["prior"]["name"] == "gamma" and "choice_of_prior" not in facts
