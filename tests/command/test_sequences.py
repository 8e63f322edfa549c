"""Sequences: trials, days, recordings that share a basis, each with a chain of its own."""

import numpy as np
import pytest

from support import as_csv, held_model

BASIS = np.array([[20.0, 1, 3], [2, 15, 0.5], [1, 4, 30], [6, 6, 1]])
STAY_OFF, STAY_ON = 0.85, 0.8


def trials(number, length, seed=5, basis=BASIS):
    """Trials of the on-off chain, each from its stationary law: number x length x M counts."""
    random = np.random.default_rng(seed)
    often = (1 - STAY_OFF) / (2 - STAY_OFF - STAY_ON)
    on = random.random((number, basis.shape[1])) < often
    counts = np.empty((number, length, len(basis)))
    for t in range(length):
        counts[:, t] = random.poisson(on @ basis.T)
        stay = np.where(on, STAY_ON, 1 - STAY_OFF)
        on = random.random(on.shape) < stay
    return counts


def labelled(counts, labels=None, separator=","):
    """As CSV with a column that names the trial, among the channels."""
    lines = [separator.join(["a", "trial", "b", "c", "d"])]
    for i, trial in enumerate(counts):
        label = f"trial {i}" if labels is None else labels[i]
        for y in trial:
            cells = [f"{value:g}" for value in y]
            lines.append(separator.join([cells[0], label] + cells[1:]))
    return "\n".join(lines) + "\n"


def fit(headwater, data, out, *options):
    headwater("fit", data, "--components", 3, "--prior", "basis-selection", "--out", out,
              "--quiet", *options)
    return headwater.path(out).read_bytes()


def test_the_score_is_the_sum_of_each_sequences_own(headwater):
    counts = trials(6, 20)
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    alone = [headwater.score(model, headwater.write("one.csv", as_csv(trial)))["log_likelihood"]
             for trial in counts]
    headwater.write("all.csv", labelled(counts))
    together = headwater.score(model, "all.csv", "--sequence-column", "trial")
    assert together["sequences"] == 6 and together["observations"] == 120
    assert abs(together["log_likelihood"] - sum(alone)) < 1e-9
    headwater.save("cube.npy", counts)
    assert headwater.score(model, "cube.npy") == together
    headwater.write("flat.csv", as_csv(counts.reshape(120, 4)))
    flat = headwater.score(model, "flat.csv")
    assert flat["sequences"] == 1
    assert abs(flat["log_likelihood"] - sum(alone)) > 0.1


@pytest.mark.parametrize("flags", [[], ["--smooth"]])
def test_activations_are_those_of_each_sequence(headwater, flags):
    counts = trials(5, 12)
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    headwater.save("cube.npy", counts)
    headwater("apply", model, "cube.npy", "--out", "x.npy", *flags)
    found = headwater.load("x.npy").reshape(5, 12, 3)
    for i, trial in enumerate(counts):
        headwater.save("one.npy", trial)
        headwater("apply", model, "one.npy", "--out", "x.npy", *flags)
        np.testing.assert_allclose(found[i], headwater.load("x.npy"), rtol=1e-12, atol=1e-14)


def test_every_format_gives_the_same_bytes(headwater):
    h5py = pytest.importorskip("h5py")
    counts = trials(60, 20)
    headwater.write("a.csv", labelled(counts))
    headwater.write("a.tsv", labelled(counts, separator="\t"))
    headwater.write("a.jsonl", "".join(
        f'{{"trial": {i}, "y": {y.tolist()}}}\n' for i, trial in enumerate(counts) for y in trial))
    headwater.save("a.npy", counts)
    headwater.save("fortran.npy", np.asfortranarray(counts))
    with h5py.File(headwater.path("a.h5"), "w") as file:
        file["plain"] = counts
        file.create_dataset("chunked", data=counts, chunks=(7, 9, 2))
    wanted = fit(headwater, "a.npy", "m.h5")
    column = ["--sequence-column", "trial"]
    for data, options in [("a.csv", column), ("a.csv", ["--sequence-column", "2"]),
                          ("a.tsv", column), ("a.jsonl", column), ("fortran.npy", []),
                          ("a.h5:/plain", []), ("a.h5:/chunked", [])]:
        found = fit(headwater, data, "named.h5", *options)
        if not headwater.facts("named.h5")["names"]:
            assert found == wanted, data
        else:  # the channels have names in some formats; the rest is the same
            assert headwater("show", "named.h5", "--basis") == headwater("show", "m.h5", "--basis")
            assert {**headwater.facts("named.h5"), "names": []} == headwater.facts("m.h5"), data
    headwater.save("flat.npy", counts.reshape(-1, 4))
    assert fit(headwater, "flat.npy", "m.h5") != wanted


def test_labels_without_a_header(headwater):
    counts = trials(4, 10)
    headwater.write("all.csv", labelled(counts))
    headwater.write("bare.csv", labelled(counts).partition("\n")[2])
    model = held_model(headwater, "model.h5", BASIS, STAY_OFF, STAY_ON)
    assert (headwater.score(model, "bare.csv", "--sequence-column", 2)
            == headwater.score(model, "all.csv", "--sequence-column", "trial"))


@pytest.mark.parametrize("engine", [
    ["--prior", "basis-selection"], ["--prior", "basis-selection", "--smoother", "forward"],
    ["--prior", "basis-selection", "--paper-exact"],
    ["--prior", "basis-selection", "--engine", "beam"],
    ["--prior", "gamma", "--engine", "fast"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "lag"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "path"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "path", "--paper-exact"],
    ["--prior", "gamma", "--particles", 60, "--smoother", "paris"],
    ["--prior", "gamma", "--particles", 30, "--smoother", "forward"],
    ["--prior", "log-gaussian", "--particles", 60, "--proposal", "guided"]],
    ids=lambda options: "-".join(map(str, options[1::2])) + ("-exact" if len(options) % 2 else ""))
def test_a_fit_that_goes_on_inside_a_sequence_gives_the_same_bytes(headwater, engine):
    counts = trials(20, 23)
    lines = labelled(counts).splitlines(keepends=True)
    headwater.write("all.csv", "".join(lines))
    headwater.write("part.csv", "".join(lines[:1 + 10 * 23 + 11]))  # in the eleventh trial
    headwater.save("start.npy", BASIS * [[1.2, 0.8, 1.1]])
    options = [*engine, "--sequence-column", "trial", "--init", "start.npy", "--counts", "poisson"]
    wanted = fit(headwater, "all.csv", "m.h5", *options)
    fit(headwater, "part.csv", "part.h5", *options, "--checkpoint", "c.ckpt")
    assert fit(headwater, "all.csv", "m.h5", *options, "--resume", "c.ckpt") == wanted


def test_short_trials_teach_as_much_as_one_stream(headwater):
    """200 trials of 40 steps against one stream of 8,000: errors of the basis of the same size. From
    seed to seed they have a relative standard deviation of .3, so the ratio of the means of 20 has a
    standard error of .095. Were it 1, it would be above 1.2 with probability .02."""
    errors = {"trials": [], "stream": []}
    for seed in range(20):
        for name, counts in [("trials", trials(200, 40, seed)), ("stream", trials(1, 8000, seed))]:
            headwater.save("a.npy", counts)
            fit(headwater, "a.npy", "m.h5", "--prior", "basis-selection", "--counts", "poisson")
            found = headwater.basis("m.h5")
            order = [np.argmin(((found - BASIS[:, [k]]) ** 2).sum(axis=0)) for k in range(3)]
            errors[name].append(np.sqrt(((found[:, order] - BASIS) ** 2).mean()))
    assert np.mean(errors["trials"]) < 1.2 * np.mean(errors["stream"])


def test_batch_em_never_falls_over_sequences(headwater):
    headwater.save("a.npy", trials(50, 10))
    headwater.save("start.npy", BASIS * [[1.5, 0.6, 1.2]])
    fit(headwater, "a.npy", "m.h5", "--method", "batch", "--prior", "basis-selection", "--counts",
        "poisson", "--init", "start.npy", "--iterations", 30, "--tolerance", 0, "--trace-every", 1)
    assert (np.diff(headwater.trace("m.h5")["log_likelihood"]) > -1e-7).all()
    facts = headwater.facts("m.h5")
    scored = headwater.score("m.h5", "a.npy")
    assert abs(facts["log_likelihood"] - scored["log_likelihood"]) < 1e-6


@pytest.mark.parametrize("labels, line, message", [
    (["x", "y", "x"], 6, "column 2: sequence 'x' comes back after others; the rows of a sequence "
                         "must follow each other"),
    (["x", "", "z"], 4, "column 2: no sequence is named here"),
])
def test_a_sequence_that_is_none(headwater, labels, line, message):
    headwater.write("all.csv", labelled(trials(3, 2), labels))
    done = headwater.attempt("fit", "all.csv", "--components", 2, "--prior", "gamma",
                             "--sequence-column", "trial", "--out", "m.h5")
    assert done.returncode == 1
    assert done.stderr.decode() == f"headwater: all.csv:{line}: {message}\n"


def test_columns_that_are_not_there(headwater):
    headwater.write("all.csv", labelled(trials(3, 2)))
    headwater.save("all.npy", trials(3, 2))

    def trouble(data, *options):
        done = headwater.attempt("fit", data, "--components", 2, "--prior", "gamma", "--out",
                                 "m.h5", *options)
        return done.returncode, done.stderr.decode()
    assert trouble("all.csv", "--sequence-column", "run") == (
        1, "headwater: all.csv: --sequence-column 'run': no column has this name; expected a name "
           "in the header, or a number from 1 to 5\n")
    assert trouble("all.csv", "--sequence-column", "trial", "--index-column", 2) == (
        1, "headwater: all.csv: --index-column and --sequence-column both name column 2\n")
    assert trouble("all.npy", "--sequence-column", 1)[0] == 2
    headwater.save("start.npy", np.ones((2, 2, 2)))
    assert trouble("all.csv", "--sequence-column", "trial", "--init", "start.npy") == (
        1, "headwater: start.npy: has 3 dimensions; expected 2\n")
