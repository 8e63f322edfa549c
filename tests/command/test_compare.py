"""headwater compare: several models, the same data."""

import json

import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import as_csv, batch_error, held_model

BASIS = np.random.default_rng(31).uniform(0, 6, (5, 3))
OTHER = BASIS[:, ::-1] * 1.3
LENGTH = 300


@pytest.fixture
def files(headwater):
    y = simulate(selection_chain(3, 0.8, 0.7), BASIS, LENGTH, 32)
    headwater.write("y.csv", as_csv(y))
    held_model(headwater, "right.h5", BASIS, 0.8, 0.7)
    held_model(headwater, "wrong.h5", OTHER, 0.8, 0.7)
    held_model(headwater, "two.h5", BASIS[:, :2], 0.8, 0.7)
    return ["right.h5", "wrong.h5", "two.h5"]


def compared(headwater, *arguments):
    return json.loads(headwater("compare", *arguments, "--json"))


def steps(headwater, model, *arguments):
    headwater("score", model, "y.csv", "--out", "steps.npy", *arguments)
    return headwater.load("steps.npy")[:, 0]


def test_the_figures_are_those_of_score(headwater, files):
    facts = compared(headwater, *files, "y.csv")
    alone = [steps(headwater, model) for model in files]
    assert facts["observations"] == LENGTH
    assert facts["best"] == "right.h5"
    for model, found, expected in zip(files, facts["models"], alone):
        assert found["model"] == model
        assert found["per_observation"] == pytest.approx(expected.mean(), rel=1e-12)
        assert found["per_cell"] == pytest.approx(expected.mean() / 5, rel=1e-12)
        gap = expected - alone[0]
        assert found["difference"] == pytest.approx(gap.mean(), rel=1e-9)
        assert found["standard_error"] == pytest.approx(batch_error(gap) if gap.any() else 0)


def test_rows_before_from_are_seen_and_do_not_count(headwater, files):
    facts = compared(headwater, *files, "y.csv", "--from", 101)
    assert facts["observations"] == LENGTH - 100
    expected = steps(headwater, "right.h5")[100:].mean()
    assert facts["models"][0]["per_observation"] == pytest.approx(expected, rel=1e-12)


def test_threads_change_nothing(headwater, files):
    one = headwater("compare", *files, "y.csv", "--json")
    assert headwater("compare", *files, "y.csv", "--json", "--threads", 3) == one


def test_the_winner_is_named_in_words(headwater, files):
    text = headwater("compare", *files, "y.csv").decode()
    assert "right.h5 (basis-selection, K = 3, poisson) predicts better than" in text
    assert "nats an observation" in text


def test_models_that_are_alike_have_no_winner(headwater, files):
    held_model(headwater, "twin.h5", BASIS[:, ::-1], 0.8, 0.7)
    text = headwater("compare", "right.h5", "twin.h5", "y.csv").decode()
    assert "predict equally well" in text
    held_model(headwater, "near.h5", BASIS * 1.001, 0.8, 0.7)
    headwater.write("few.csv", as_csv(np.ones((5, 5))))
    text = headwater("compare", "right.h5", "near.h5", "few.csv").decode()
    assert "5 observations are too few to tell" in text


def test_what_one_model_calls_impossible_counts_for_none(headwater, files):
    silent = BASIS.copy()
    silent[2] = 0
    held_model(headwater, "silent.h5", silent, 0.8, 0.7)
    facts = compared(headwater, "right.h5", "silent.h5", "y.csv")
    impossible = facts["models"][1]["impossible_observations"]
    assert impossible > 0
    assert facts["models"][0]["impossible_observations"] == 0
    assert facts["left_out"] == impossible
    assert facts["observations"] == LENGTH - impossible


@pytest.mark.parametrize("arguments, code, words", [
    (["right.h5", "y.csv"], 2, "expected two models or more"),
    (["right.h5", "y.csv", "y.csv"], 1, "y.csv: is not a headwater model"),
    (["right.h5", "small.h5", "y.csv"], 1, "small.h5: has 2 channels; right.h5 has 5"),
    (["right.h5", "wrong.h5", "narrow.csv"], 1, "narrow.csv: has 2 channels"),
    (["right.h5", "wrong.h5", "y.csv", "--from", "301"], 1, "--from 301 leaves none"),
    (["right.h5", "wrong.h5", "y.csv", "--from", "0"], 2, "--from 0"),
])
def test_what_cannot_be_compared_is_said_in_one_line(headwater, files, arguments, code, words):
    held_model(headwater, "small.h5", BASIS[:2], 0.8, 0.7)
    headwater.write("narrow.csv", as_csv(np.ones((3, 2))))
    done = headwater.attempt("compare", *arguments)
    message = done.stderr.decode()
    assert (done.returncode, message.count("\n")) == (code, 1)
    assert words in message
    assert done.stdout == b""


def test_models_of_other_channels_are_refused(headwater):
    for names in "ab", "ba":
        headwater.write(f"{names}.csv", as_csv(np.ones((60, 2)), header=names))
        headwater("fit", f"{names}.csv", "--components", 1, "--prior", "basis-selection", "--out",
                  f"{names}.h5")
    done = headwater.attempt("compare", "ab.h5", "ba.h5", "ab.csv")
    assert done.returncode == 1
    assert done.stderr == b"headwater: ba.h5: channel 1 is 'b'; in ab.h5 it is 'a'\n"


def test_show_says_which_components_another_model_has_too(headwater, files):
    other = np.column_stack([3 * BASIS[:, 2], BASIS[:, 0], np.eye(5)[0]])
    held_model(headwater, "other.h5", other, 0.8, 0.7)
    lines = headwater("show", "right.h5", "--compare", "other.h5").decode().splitlines()
    unit = lambda matrix: matrix / np.linalg.norm(matrix, axis=0)
    expected = (unit(BASIS).T @ unit(other)).max(axis=1)
    assert [float(line.split()[1]) for line in lines[1:4]] == pytest.approx(expected, abs=6e-5)
    assert "not found there" in lines[2] and "not found there" not in lines[1] + lines[3]
    assert lines[4] == "2 of 3 components have a cosine of 0.95 or more"
    held_model(headwater, "small.h5", BASIS[:2], 0.8, 0.7)
    done = headwater.attempt("show", "right.h5", "--compare", "small.h5")
    assert done.returncode == 1
    assert done.stderr == b"headwater: small.h5: has 2 channels; right.h5 has 5\n"
