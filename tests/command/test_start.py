"""How a fit starts, from outside: the search for a starting basis, and several fits at once."""

import re

import numpy as np
import pytest

from support import as_csv, settings

STAY_OFF, STAY_ON = 0.8571, 0.6926
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def selection(shared_headwater):
    """Streams of five sources in eight channels, y1.npy ..., and their bases b1.npy ..."""
    for seed in SEEDS:
        basis = 10 * np.random.default_rng(seed).exponential(size=(8, 5))
        shared_headwater.save(f"b{seed}.npy", basis)
        shared_headwater("simulate", "--prior", "basis-selection",
                         *settings(stay_off=STAY_OFF, stay_on=STAY_ON), "--basis", f"b{seed}.npy",
                         "--length", 3000, "--seed", seed, "--out", f"y{seed}.npy")
    return shared_headwater


def attempt(command, data, out, *more, **given):
    return command.attempt("fit", data, "--components", 5, "--prior", "basis-selection",
                           "--out", out, *more, **given)


def fit(command, data, out, *more, **given):
    """Runs a fit that must succeed, and returns its messages."""
    done = attempt(command, data, out, *more, **given)
    assert done.returncode == 0, done.stderr.decode()
    return done.stderr.decode()


def relative_error(command, model, truth):
    text = command("show", model, "--compare", truth).decode()
    return float(re.search(r"relative error ([\d.e+-]+)", text).group(1))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plain_command_finds_the_basis(selection, seed):
    summary = fit(selection, f"y{seed}.npy", f"plain{seed}.h5")
    assert re.search(r"^start: [a-z0-9 ]+, the best of \d+ trials", summary, re.MULTILINE)
    assert relative_error(selection, f"plain{seed}.h5", f"b{seed}.npy") < 0.05


def test_a_start_at_random_or_from_a_file_is_not_searched_for(selection):
    assert "start:" not in fit(selection, "y1.npy", "random.h5", "--init", "random")
    assert "start:" not in fit(selection, "y1.npy", "given.h5", "--init", "b1.npy")
    assert "start:" not in fit(selection, "y1.npy", "paper.h5", "--paper-exact")
    fit(selection, "y1.npy", "plain.h5")
    fit(selection, "y1.npy", "auto.h5", "--init", "auto")
    assert (selection.basis("auto.h5") == selection.basis("plain.h5")).all()
    assert (selection.basis("auto.h5") != selection.basis("random.h5")).any()


def test_a_search_on_threads_finds_the_same_start(selection):
    models = []
    for threads in 1, 2, 3:
        summary = fit(selection, "y1.npy", "threads.h5", "--threads", threads)
        assert ("engine 'exact' shares no steps" in summary) == (threads > 1)
        models.append(selection.path("threads.h5").read_bytes())
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("length", [1, 5, 400])
def test_streams_shorter_than_the_search_would_like_are_fitted(selection, length):
    data = selection.save(f"short{length}.npy", selection.load("y1.npy")[:length])
    assert "start:" in fit(selection, data, "short.h5")
    assert selection.facts("short.h5")["observations"] == length
    basis = selection.basis("short.h5")
    assert np.isfinite(basis).all() and (basis > 0).all()


@pytest.mark.parametrize("length", [700, 3000])
def test_a_pipe_equals_a_file(selection, length):
    data = selection.load("y2.npy")[:length]
    fit(selection, selection.save("file.npy", data), "file.h5")
    fit(selection, "-", "pipe.h5", given=as_csv(data).encode())
    assert (selection.basis("pipe.h5") == selection.basis("file.h5")).all()
    assert selection.facts("pipe.h5")["log_likelihood"] == \
        selection.facts("file.h5")["log_likelihood"]


def test_restarts_keep_the_best(selection):
    options = ["--init", "random", "--seed", 7]
    summary = fit(selection, "y1.npy", "best.h5", *options, "--restarts", 3, "--threads", 2)
    lines = re.findall(r"^seed (\d+): log-likelihood (-?[\d.]+) since its last start"
                       r"(, the best, which is kept)?$", summary,
                       re.MULTILINE)
    assert [int(seed) for seed, _, _ in lines] == [7, 8, 9]
    values = [float(value) for _, value, _ in lines]
    kept = [bool(mark) for _, _, mark in lines]
    assert kept == [value == max(values) for value in values]
    best = selection.facts("best.h5")
    assert best["seed"] == 7 + int(np.argmax(values))
    # The best fit must equal the same fit run alone.
    fit(selection, "y1.npy", "alone.h5", "--init", "random", "--seed", best["seed"])
    assert (selection.basis("alone.h5") == selection.basis("best.h5")).all()
    assert selection.facts("alone.h5")["log_likelihood"] == best["log_likelihood"]


def test_restarts_go_with_the_search_too(selection):
    data = selection.save("first.npy", selection.load("y3.npy")[:300])
    summary = fit(selection, data, "searched.h5", "--restarts", 2)
    assert summary.count("log-likelihood") == 3
    assert summary.count("start:") == 1


def test_one_restart_is_the_plain_fit(selection):
    data = selection.save("first.npy", selection.load("y3.npy")[:300])
    assert "seed" not in fit(selection, data, "one.h5", "--restarts", 1)
    fit(selection, data, "none.h5")
    assert (selection.basis("one.h5") == selection.basis("none.h5")).all()


@pytest.mark.parametrize("arguments, words", [
    (["--restarts", 0], "--restarts 0: expected a whole number from 1 to 1000"),
    (["--restarts", -2], "--restarts -2: expected a whole number from 1 to 1000"),
    (["--restarts", 1001], "--restarts 1001: expected a whole number from 1 to 1000"),
    (["--restarts", 2, "--log", "log.jsonl"],
     "--log describes one fit, so it cannot go with --restarts"),
])
def test_what_restarts_cannot_be(selection, arguments, words):
    done = attempt(selection, "y1.npy", "never.h5", *arguments)
    assert done.returncode == 2
    assert done.stderr.decode() == f"headwater: {words}\n"
    assert not selection.path("never.h5").exists()
    assert not selection.path("log.jsonl").exists()


def test_a_bad_row_ends_all_restarts(selection):
    data = selection.load("y1.npy")[:400]
    data[349, 2] = -1
    selection.save("bad.npy", data)
    for restarts in (1, 3):
        done = attempt(selection, "bad.npy", "never.h5", "--restarts", restarts, "--threads", 2)
        assert done.returncode == 1
        assert len(done.stderr.decode().splitlines()) == 1
        assert not selection.path("never.h5").exists()


def test_the_start_is_searched_for_under_the_law_that_was_chosen(headwater):
    """Among these trials the best one under Poisson's law leads to a basis that predicts worse, by .31
    nats an observation, than the one that is found under the law of the counts."""
    headwater("simulate", "--prior", "gamma", "--channels", 12, "--components", 3, "--length", 600,
              "--counts", "negative-binomial", *settings(dispersion=0.3), "--seed", 3, "--out",
              "y.csv")
    scores = {}
    for counts in "auto", "negative-binomial":
        headwater("fit", "y.csv", "--components", 3, "--prior", "gamma", "--counts", counts, "--out",
                  f"{counts}.h5", "--quiet")
        scores[counts] = headwater.score(f"{counts}.h5", "y.csv")
    # The scores are by particles, with standard errors of some .005.
    lost = scores["negative-binomial"]["per_observation"] - scores["auto"]["per_observation"]
    assert lost < 0.05
