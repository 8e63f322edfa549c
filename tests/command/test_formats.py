"""Files of all kinds: data as input, tables and models as output."""

import json
import time

import h5py
import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import as_csv, held_model, read_csv

BASIS = np.random.default_rng(30).uniform(0, 10, (4, 3))
COUNTS = simulate(selection_chain(3, 0.85, 0.7), BASIS, 600, seed=31)
NAMES = ["north", "east", "south", "west"]
FIT = ["--components", 3, "--prior", "basis-selection"]


def fit(headwater, data, *arguments, out="model.h5", given=b""):
    headwater("fit", data, *FIT, *arguments, "--out", out, given=given)
    return out


TEXTS = {
    "plain.csv": as_csv(COUNTS),
    "header.csv": as_csv(COUNTS, header=NAMES),
    "quoted.csv": as_csv(COUNTS, header=[f'"{name}, upstream"' for name in NAMES]),
    "windows.csv": as_csv(COUNTS, end="\r\n"),
    "windows_header.csv": as_csv(COUNTS, end="\r\n", header=NAMES),
    "byte_order_mark.csv": "\ufeff" + as_csv(COUNTS, header=NAMES),
    "unfinished.csv": as_csv(COUNTS).rstrip("\n"),
    "decimal.csv": as_csv(COUNTS).replace(",", ".0,"),
    "plain.tsv": as_csv(COUNTS, separator="\t"),
    "header.tsv": as_csv(COUNTS, separator="\t", header=NAMES),
}

ARRAYS = {
    "u1": COUNTS.astype("u1"), "u2": COUNTS.astype("u2"), "u8": COUNTS.astype("u8"),
    "i1": COUNTS.astype("i1"), "i4": COUNTS.astype("i4"), "i8": COUNTS.astype("i8"),
    "f2": COUNTS.astype("f2"), "f4": COUNTS.astype("f4"), "f8": COUNTS,
    "big-endian i4": COUNTS.astype(">i4"), "big-endian f8": COUNTS.astype(">f8"),
    "Fortran i4": np.asfortranarray(COUNTS.astype("i4")), "Fortran f8": np.asfortranarray(COUNTS),
}


@pytest.fixture(scope="module")
def plain(shared_headwater):
    """The model fitted to the plain CSV file: its basis as printed, and its bytes."""
    shared_headwater.write("plain.csv", TEXTS["plain.csv"])
    model = fit(shared_headwater, "plain.csv")
    return shared_headwater("show", model, "--basis"), shared_headwater.path(model).read_bytes()


@pytest.mark.parametrize("name", list(TEXTS))
def test_every_text_file_gives_the_same_basis(headwater, plain, name):
    headwater.write(name, TEXTS[name])
    assert headwater("show", fit(headwater, name), "--basis") == plain[0]


@pytest.mark.parametrize("kind", list(ARRAYS))
def test_every_array_gives_the_same_basis(headwater, plain, kind):
    headwater.save("counts.npy", ARRAYS[kind])
    assert headwater("show", fit(headwater, "counts.npy"), "--basis") == plain[0]


@pytest.mark.parametrize("name", ["plain.csv", "header.csv", "windows_header.csv"])
def test_a_pipe_gives_the_same_bytes_as_a_file(headwater, plain, name):
    same = "plain.csv" if name == "plain.csv" else "header.csv"
    of_file = fit(headwater, headwater.write(same, TEXTS[same]), out="file.h5")
    model = fit(headwater, "-", given=TEXTS[name].encode())
    assert headwater.path(model).read_bytes() == headwater.path(of_file).read_bytes()
    assert headwater("show", model, "--basis") == plain[0]


def test_a_second_run_at_another_time_gives_the_same_bytes(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    first = headwater.path(fit(headwater, "counts.csv", out="first.h5")).read_bytes()
    time.sleep(1.1)  # HDF5 timestamps have a resolution of one second
    assert headwater.path(fit(headwater, "counts.csv", out="second.h5")).read_bytes() == first


def test_the_seed_decides_the_random_start(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    models = [fit(headwater, "counts.csv", "--init", "random", "--seed", seed, out=f"{seed}.h5")
              for seed in (1, 2)]
    assert headwater.facts(models[0])["seed"] == 1 and headwater.facts(models[1])["seed"] == 2
    assert not np.array_equal(headwater.basis(models[0]), headwater.basis(models[1]))


@pytest.mark.parametrize("kind", ["csv", "tsv", "npy"])
def test_tables_are_written_in_the_kind_that_is_asked_for(headwater, kind):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    model = held_model(headwater, "model.h5", BASIS, 0.85, 0.7)
    headwater("apply", model, "counts.csv", "--out", f"x.{kind}")
    headwater("score", model, "counts.csv", "--out", f"s.{kind}", "--predict", f"p.{kind}")
    on_standard_output = read_csv(headwater("apply", model, "counts.csv", "--out", "-"))
    shapes = [headwater.load(f"{name}.{kind}").shape for name in "xsp"]
    assert shapes == [(600, 3), (600, 1), (600, 4)]
    np.testing.assert_array_equal(headwater.load(f"x.{kind}"), on_standard_output)


def test_an_existing_output_is_replaced(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    headwater.write("model.h5", "something else")
    assert headwater.facts(fit(headwater, "counts.csv"))["observations"] == 600


def test_h5py_reads_the_model(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    model = fit(headwater, "counts.csv", "--seed", 7)
    facts, last = headwater.facts(model), headwater.parameters(model, "--last")
    with h5py.File(headwater.path(model), "r") as file:
        assert file.attrs["format"] == "headwater model"
        assert file.attrs["format_version"] == 1
        for name in "version", "engine", "method", "seed":
            assert file.attrs[name] == facts[name]
        np.testing.assert_array_equal(file["basis"], headwater.basis(model))
        np.testing.assert_array_equal(file["last_iterate/basis"], headwater.basis(model, "--last"))
        for name in "stay_off", "stay_on":
            assert file["parameters"][name][()] == facts["prior"]["parameters"][name]
            assert file["last_iterate/parameters"][name][()] == last[name]
        assert file["prior/name"].asstr()[()] == "basis-selection"
        assert file["prior/components"][()] == 3
        assert file["summary/observations"][()] == 600
        assert file["summary/log_likelihood"][()] == facts["log_likelihood"]
        assert file["options/step"].asstr()[()] == "auto"
        assert file["trace/reported"].shape == (len(file["trace/t"]), 2 + 4 * 3)
        assert file["trace/columns"].asstr()[()].split("\n")[:3] == ["stay_off", "stay_on",
                                                                    "basis_1_1"]


def test_h5py_reads_the_background(headwater):
    background = np.array([0.5, 1.0, 0.0, 2.0])
    model = held_model(headwater, "model.h5", BASIS, 0.85, [0.7, 0.6, 0.5], background)
    with h5py.File(headwater.path(model), "r") as file:
        np.testing.assert_array_equal(file["basis"], BASIS)
        np.testing.assert_array_equal(file["background"], background)
        np.testing.assert_array_equal(file["parameters/stay_on"], [0.7, 0.6, 0.5])


def test_show_basis_has_17_digits(headwater, plain):
    lines = plain[0].decode().splitlines()
    assert len(lines) == 4
    for line in lines:
        cells = line.split(",")
        assert len(cells) == 3
        assert [f"{float(cell):.17g}" for cell in cells] == cells


def test_show_json_has_what_is_promised(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    model = fit(headwater, "counts.csv", "--seed", 3)
    text = headwater("show", model, "--json").decode()
    facts = json.loads(text)
    assert (facts["channels"], facts["components"], facts["observations"]) == (4, 3, 600)
    assert (facts["engine"], facts["method"], facts["seed"]) == ("exact", "online", 3)
    assert facts["version"] == headwater("--version").decode().split()[-1]
    assert facts["prior"]["name"] == "basis-selection"
    assert sorted(facts["prior"]["parameters"]) == ["stay_off", "stay_on"]
    assert f'"log_likelihood": {facts["log_likelihood"]:.17g}' in text
    assert f'"stay_off": {facts["prior"]["parameters"]["stay_off"]:.17g}' in text


def test_score_json_has_what_is_promised(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    model = held_model(headwater, "model.h5", BASIS, 0.85, 0.7)
    text = headwater("score", model, "counts.csv", "--json").decode()
    totals = json.loads(text)
    assert totals["observations"] == 600
    assert f'{totals["log_likelihood"]:.17g}' in text
    assert f'{totals["per_observation"]:.17g}' in text


def test_last_is_the_last_iterate(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    averaged = fit(headwater, "counts.csv", "--average", "polyak", out="averaged.h5")
    plain = fit(headwater, "counts.csv", "--average", "none", out="plain.h5")
    last = headwater("show", averaged, "--basis", "--last")
    assert last != headwater("show", averaged, "--basis")
    assert last == headwater("show", plain, "--basis")
    assert last == headwater("show", plain, "--basis", "--last")
    assert headwater.parameters(averaged, "--last") == headwater.parameters(plain)


def test_a_config_file_says_what_flags_say(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    headwater.write("fit.conf", "components=3\nprior=basis-selection\nstep=power:0.8\n"
                                "burn-in=50\nset=stay_off=0.8\nhold=stay_off\nseed=9\n")
    headwater("fit", "counts.csv", "--config", "fit.conf", "--out", "by_file.h5")
    by_flags = fit(headwater, "counts.csv", "--step", "power:0.8", "--burn-in", 50,
                   "--set", "stay_off=0.8", "--hold", "stay_off", "--seed", 9)
    assert headwater.path("by_file.h5").read_bytes() == headwater.path(by_flags).read_bytes()


def test_a_flag_overrides_the_config_file(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    headwater.write("fit.conf", "seed=9\nburn-in=50\n")
    options = headwater.facts(fit(headwater, "counts.csv", "--config", "fit.conf",
                                  "--burn-in", 60))
    assert options["seed"] == 9
    assert options["options"]["burn-in"] == "60"


@pytest.mark.parametrize("step", ["power:0.8", "constant:0.05"])
def test_the_log_has_a_line_for_each_observation(headwater, step):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    # The last start is found before the end, so that the last line is of the fit that the model has.
    model = fit(headwater, "counts.csv", "--log", "fit.log", "--step", step, "--average", "none",
                "--smoother", "forward", "--start-on", 300)
    lines = [json.loads(line) for line in headwater.path("fit.log").read_text().splitlines()]
    assert [line["t"] for line in lines] == list(range(1, 601))
    total = sum(line["log_predictive"] for line in lines)
    assert total == pytest.approx(headwater.facts(model)["log_likelihood"], rel=1e-12)
    assert lines[0]["step"] == 1
    if step == "power:0.8":
        assert [line["step"] for line in lines] == pytest.approx(np.arange(1, 601) ** -0.8)
    else:
        assert lines[-1]["step"] == 0.05
    assert lines[-1]["parameters"] == headwater.parameters(model)


def test_the_trace_has_a_row_every_so_often_and_one_at_the_end(headwater):
    headwater.write("counts.csv", TEXTS["plain.csv"])
    model = fit(headwater, "counts.csv", "--trace-every", 70)
    trace, last = headwater.trace(model), headwater.trace(model, "--last")
    assert list(trace["t"]) == [70, 140, 210, 280, 350, 420, 490, 560, 600]
    assert trace["log_likelihood"][-1] == headwater.facts(model)["log_likelihood"]
    assert trace["stay_on"][-1] == headwater.parameters(model)["stay_on"]
    assert trace["basis_2_3"][-1] == headwater.basis(model)[1, 2]
    assert last["basis_2_3"][-1] == headwater.basis(model, "--last")[1, 2]
    assert np.all(np.diff(trace["log_likelihood"]) < 0)
