"""Names of channels: where they come from, where they go, and what they are checked against."""

import json

import h5py
import numpy as np
import pytest

from support import as_csv, held_model

NAMES = ["north", "south", "east", "west"]
ORDER = [2, 0, 3, 1]  # another order of the columns
FIT = ("--components", 2, "--prior", "basis-selection", "--init", "random", "--counts", "poisson",
       "--out")


def counts(rows=60, channels=4, seed=1):
    return np.random.default_rng(seed).poisson(np.arange(1, channels + 1), (rows, channels))


def named(matrix, names=NAMES):
    return as_csv(matrix, header=names)


def permuted(matrix, order=ORDER):
    return as_csv(np.asarray(matrix)[:, order], header=[NAMES[m] for m in order])


@pytest.fixture
def fitted(headwater):
    headwater.write("y.csv", named(counts()))
    headwater("fit", "y.csv", *FIT, "model.h5")
    return headwater


def test_the_model_keeps_the_names_of_the_header(fitted):
    assert fitted.facts("model.h5")["names"] == NAMES
    with h5py.File(fitted.path("model.h5")) as file:
        assert list(file["names"].asstr()) == NAMES
    basis = fitted("show", "model.h5", "--basis").decode()
    assert len(basis.splitlines()) == 4 and "north" not in basis


def test_show_prints_rows_and_strongest_channels_by_name(fitted):
    text = fitted("show", "model.h5").decode()
    basis = fitted.basis("model.h5")
    rows = text.partition("basis (a row a channel)\n")[2].splitlines()
    assert [row.split()[-1] for row in rows[:4]] == NAMES
    strongest = text.partition("strongest channels")[2].splitlines()[1:]
    for k in range(2):
        order = np.argsort(-basis[:, k])
        part = 100 * basis[order[0], k] / basis[:, k].sum()
        assert strongest[k].strip().startswith(f"{k + 1}: {NAMES[order[0]]} ")
        assert float(strongest[k].split("%")[0].split()[-1]) == pytest.approx(part, rel=.06)


def test_without_a_header_there_are_no_names(headwater):
    headwater.write("y.csv", as_csv(counts()))
    headwater("fit", "y.csv", *FIT, "model.h5")
    assert headwater.facts("model.h5")["names"] == []
    headwater.write("named.csv", named(counts()))  # nothing to compare with
    headwater.score("model.h5", "named.csv")


def test_data_in_another_order_are_put_in_order_with_a_note(fitted):
    fitted.write("other.csv", permuted(counts()))
    for arguments in (["score", "--out", "{}.npy", "--predict", "{}_p.npy"],
                      ["apply", "--out", "{}.npy"], ["forecast", "--horizon", 2, "--out", "{}.npy"]):
        results = []
        for data in ("y", "other"):
            done = fitted.attempt(arguments[0], "model.h5", f"{data}.csv",
                                  *(str(a).format(data) for a in arguments[1:]))
            assert done.returncode == 0
            notes = done.stderr.decode().splitlines()
            assert len(notes) == (data == "other"), notes
            results.append(fitted.load(f"{data}.npy"))
        assert "other.csv: its channels are in another order than those of model.h5" in notes[0]
        assert np.array_equal(*results)
    assert np.array_equal(fitted.load("y_p.npy"), fitted.load("other_p.npy"))
    assert fitted.attempt("score", "model.h5", "other.csv", "--quiet").stderr == b""


def test_exposures_follow(fitted):
    """With names by their names, without names in the order of the data."""
    exposures = np.random.default_rng(2).uniform(.5, 2, (60, 4))
    fitted.write("other.csv", permuted(counts()))
    fitted.write("e.csv", as_csv(exposures))
    fitted.write("e_named.csv", named(exposures))
    fitted.write("e_other.csv", permuted(exposures))
    fitted.write("e_other_plain.csv", as_csv(exposures[:, ORDER]))
    expected = fitted.score("model.h5", "y.csv", "--exposure", "e.csv")
    for data, exposure in [("y.csv", "e_named.csv"), ("y.csv", "e_other.csv"),
                           ("other.csv", "e_named.csv"), ("other.csv", "e_other.csv"),
                           ("other.csv", "e_other_plain.csv")]:
        assert fitted.score("model.h5", data, "--exposure", exposure) == expected, (data, exposure)
    fitted("fit", "y.csv", "--exposure", "e_named.csv", *FIT, "one.h5")
    fitted("fit", "y.csv", "--exposure", "e_other.csv", *FIT, "two.h5")
    assert fitted.path("one.h5").read_bytes() == fitted.path("two.h5").read_bytes()
    fitted.write("e_wrong.csv", as_csv(exposures, header=["a", "b", "c", "d"]))
    done = fitted.attempt("fit", "y.csv", "--exposure", "e_wrong.csv", *FIT, "three.h5")
    assert done.returncode == 1
    assert b"e_wrong.csv: its channels are not those of y.csv: " in done.stderr


@pytest.mark.parametrize("command", ["score", "apply", "forecast"])
def test_other_names_are_an_error_that_lists_them(fitted, command):
    fitted.write("other.csv", named(counts(), ["north", "up", "east", "down"]))
    outs = {"score": [], "apply": ["--out", "x.csv"], "forecast": ["--horizon", 1]}[command]
    done = fitted.attempt(command, "model.h5", "other.csv", *outs)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "headwater: other.csv: its channels are not those of model.h5: 'south' and 'west' are "
        "missing; 'up' and 'down' are not among them\n")


def test_another_number_of_channels_is_an_error_that_lists_them(fitted):
    fitted.write("more.csv", named(counts(channels=5), NAMES + ["up"]))
    done = fitted.attempt("score", "model.h5", "more.csv")
    assert done.returncode == 1
    assert done.stderr.decode() == ("headwater: more.csv: has 5 channels; model.h5 was fitted to 4: "
                                    "'up' is not among them\n")


def test_data_without_names_are_taken_in_the_order_they_have(fitted):
    fitted.write("plain.csv", as_csv(counts()))
    assert fitted.score("model.h5", "plain.csv") == fitted.score("model.h5", "y.csv")


def test_outputs_use_the_names(fitted):
    fitted.save("plain.npy", counts())  # names are the model's then
    for data in ("y.csv", "plain.npy"):
        fitted("score", "model.h5", data, "--predict", "p.csv", "--quiet")
        assert fitted.path("p.csv").read_text().splitlines()[0] == ",".join(NAMES)
        lines = fitted("forecast", "model.h5", data, "--horizon", 1).decode().splitlines()
        assert [line.split(",")[1] for line in lines[1:]] == NAMES


def test_special_columns_are_no_names(headwater):
    rows = counts()
    lines = [f"day {t // 20},{t}," + ",".join(map(str, row)) for t, row in enumerate(rows)]
    headwater.write("y.csv", "\n".join([",".join(["day", "hour"] + NAMES)] + lines) + "\n")
    headwater("fit", "y.csv", "--sequence-column", "day", "--index-column", "hour", *FIT, "m.h5")
    assert headwater.facts("m.h5")["names"] == NAMES


def test_a_header_of_numbers_gives_names(headwater):
    headwater.write("y.csv", as_csv(counts(), header=["0", "1", "2", "3"]))
    done = headwater.attempt("fit", "y.csv", *FIT, "m.h5")
    assert done.returncode == 1 and b"--header yes" in done.stderr
    headwater("fit", "y.csv", "--header", "yes", *FIT, "m.h5")
    assert headwater.facts("m.h5")["names"] == ["0", "1", "2", "3"]


def test_two_channels_of_one_name_are_told_apart_by_their_order(headwater):
    names = ["a", "b", "a", ""]
    headwater.write("y.csv", named(counts(), names))
    done = headwater.attempt("fit", "y.csv", *FIT, "m.h5")
    assert done.returncode == 0
    assert b"y.csv: two channels are called 'a'; only their order tells them apart" in done.stderr
    assert headwater.facts("m.h5")["names"] == names
    headwater.score("m.h5", "y.csv")
    headwater.write("other.csv", named(counts(), ["b", "a", "a", ""]))
    done = headwater.attempt("score", "m.h5", "other.csv")
    assert done.returncode == 1 and b"two of them are called 'a'" in done.stderr


def test_hostile_names_are_harmless(headwater):
    names = ["\x1b[2J", "say \"hi\"", "b\xff\xfe", "<script>"]
    header = b'\x1b[2J,"say ""hi""",b\xff\xfe,<script>\n'
    headwater.write("y.csv", header + as_csv(counts()).encode())
    done = headwater.attempt("fit", "y.csv", *FIT, "m.h5")
    assert done.returncode == 0 and b"\x1b" not in done.stderr
    assert b"\x1b" not in headwater("show", "m.h5")
    shown = json.loads(headwater("show", "m.h5", "--json"))["names"]
    assert shown == [names[0], names[1], "b��", names[3]]
    headwater.score("m.h5", "y.csv")
    headwater.write("other.csv", b"\x1b]0;x\x07,a,b,c\n" + as_csv(counts()).encode())
    done = headwater.attempt("score", "m.h5", "other.csv")
    assert done.returncode == 1 and b"\x1b" not in done.stderr and b"\\x1b" in done.stderr


def test_long_and_many_names(headwater):
    """Messages stay short, and names are whole in the model."""
    names = ["n" * 200_000 + str(m) for m in range(4)]
    headwater.write("y.csv", named(counts(), names))
    headwater("fit", "y.csv", *FIT, "m.h5")
    assert headwater.facts("m.h5")["names"] == names
    assert len(headwater("show", "m.h5")) < 5000
    headwater.write("other.csv", named(counts(), names[:3] + ["x" * 300_000]))
    done = headwater.attempt("score", "m.h5", "other.csv")
    assert done.returncode == 1 and len(done.stderr) < 1000
    many = [f"stop {m}" for m in range(20000)]
    headwater.write("many.csv", named(counts(3, 1)[:, [0] * 20000], many))
    headwater("fit", "many.csv", "--components", 1, "--init", "random", "--counts", "poisson",
              "--engine", "fast", "--prior", "gamma", "--out", "many.h5")
    assert headwater.facts("many.h5")["names"] == many
    headwater.write("turned.csv", named(counts(3, 1)[:, [0] * 20000], many[::-1]))
    assert headwater.score("many.h5", "turned.csv") == headwater.score("many.h5", "many.csv")


def test_names_of_hdf5_data(headwater):
    """A dimension scale of texts, or an attribute; other attributes mean something else."""
    with h5py.File(headwater.path("y.h5"), "w") as file:
        file["scale"] = counts()
        file["names"] = np.array(NAMES, dtype=h5py.string_dtype())
        file["names"].make_scale("channel")
        file["scale"].dims[1].attach_scale(file["names"])
        file["attribute"] = counts()
        file["attribute"].attrs["names"] = np.array([name.encode() for name in NAMES])  # fixed size
        file["cube"] = counts().reshape(3, 20, 4)
        file["cube"].attrs["channels"] = NAMES
        file["other"] = counts()
        file["other"].attrs["names"] = ["of", "something", "else"]
        file["turned"] = counts()[:, ORDER]
        file["turned"].attrs["names"] = [NAMES[m] for m in ORDER]
    headwater.write("y.csv", named(counts()))
    for dataset in ("scale", "attribute", "cube"):
        headwater("fit", f"y.h5:/{dataset}", *FIT, f"{dataset}.h5")
        assert headwater.facts(f"{dataset}.h5")["names"] == NAMES, dataset
    headwater("fit", "y.h5:/other", *FIT, "other.h5")
    assert headwater.facts("other.h5")["names"] == []
    assert headwater.score("scale.h5", "y.h5:/turned") == headwater.score("scale.h5", "y.csv")


def test_a_checkpoint_has_the_names(headwater):
    """A fit that goes on with data in another order is the fit in one go."""
    whole = counts(200)
    headwater.write("whole.csv", named(whole))
    headwater("fit", "whole.csv", *FIT, "whole.h5")
    headwater.write("part.csv", named(whole[:90]))
    headwater("fit", "part.csv", *FIT, "part.h5", "--checkpoint", "c")
    headwater.write("turned.csv", permuted(whole))
    done = headwater.attempt("fit", "turned.csv", *FIT, "resumed.h5", "--resume", "c")
    assert done.returncode == 0 and b"turned.csv: its channels are in another order" in done.stderr
    assert headwater.path("resumed.h5").read_bytes() == headwater.path("whole.h5").read_bytes()
    headwater.write("other.csv", named(whole, ["a", "b", "c", "d"]))
    done = headwater.attempt("fit", "other.csv", *FIT, "x.h5", "--resume", "c")
    assert done.returncode == 1 and b"its channels are not those of c: " in done.stderr
    # A pipe that goes on does not send its header again.
    headwater("fit", "-", *FIT, "piped.h5", "--resume", "c", "--skip", 0,
              given=as_csv(whole[90:]).encode())
    assert headwater.path("piped.h5").read_bytes() == headwater.path("whole.h5").read_bytes()


def test_models_without_names_of_before(headwater):
    """A held model of data without names has none, and takes data with any."""
    model = held_model(headwater, "held.h5", np.ones((4, 2)), .9, .9)
    headwater.write("y.csv", named(counts()))
    assert headwater.facts(model)["names"] == []
    assert headwater.score(model, "y.csv")["observations"] == 60
