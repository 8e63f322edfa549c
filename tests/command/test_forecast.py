"""headwater forecast: what is to be expected after the last row of data."""

import csv
import io

import numpy as np
import pytest


BASIS = np.array([[40.0, 5], [3, 20], [10, 10]])


@pytest.fixture
def forecast(headwater):
    """Forecasts with a model of two sources, held as they are, from data with a header."""
    headwater.save("basis.npy", BASIS)
    y = np.random.default_rng(3).poisson(BASIS.sum(axis=1), size=(60, 3))
    np.savetxt(headwater.path("counts.csv"), y, delimiter=",", fmt="%d",
               header='cars,bikes,"on, foot"', comments="")
    held = "--hold basis --hold stay_off --hold stay_on --set stay_off=0.9 --set stay_on=0.8"
    headwater("fit", "counts.csv", "--components", 2, "--prior", "basis-selection", "--init",
              "basis.npy", "--counts", "poisson", *held.split(), "--out", "model.h5")

    def run(options, data="counts.csv"):
        return headwater("forecast", "model.h5", data, *options.split()).decode()
    return run


def table(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def test_a_line_for_each_step_and_channel(forecast):
    header, rows = table(forecast("--horizon 200"))
    assert header == ["step", "channel", "mean"]
    assert [row[:2] for row in rows[:4]] == [["1", "cars"], ["1", "bikes"], ["1", "on, foot"],
                                             ["2", "cars"]]
    assert len(rows) == 600
    far = [float(row[2]) for row in rows[-3:]]  # sources are on 1/3 of the time
    np.testing.assert_allclose(far, BASIS.sum(axis=1) / 3, rtol=1e-9)


def test_quantiles_and_totals(forecast):
    text = forecast("--horizon 2 --quantiles 0.05,.5,0.95 --total")
    header, rows = table(text)
    assert header == ["step", "channel", "mean", "q0.05", "q0.5", "q0.95"]
    assert [row[1] for row in rows] == ["cars", "bikes", "on, foot", "total"] * 2
    values = np.array([[float(cell) for cell in row[2:]] for row in rows])
    np.testing.assert_allclose(values[3, 0], values[:3, 0].sum(), rtol=1e-12)
    assert (np.diff(values[:, 1:]) >= 0).all()
    # The sources are on together or off together: the total is no sum of independent channels.
    assert values[3, 1] < values[3, 0] < values[3, 3]


def test_the_seed_decides_and_the_file_does_not(forecast, headwater):
    options = "--horizon 3 --quantiles 0.1,0.9"
    text = forecast(options)
    forecast(options + " --out f.csv")
    assert headwater.path("f.csv").read_text() == text
    forecast(options + " --out f.tsv")
    assert headwater.path("f.tsv").read_text().splitlines()[0] == "step\tchannel\tmean\tq0.1\tq0.9"
    forecast(options + " --out f.npy")
    assert np.load(headwater.path("f.npy")).shape == (9, 3)
    assert forecast(options + " --draws 100 --seed 2") != text


def test_channels_without_names_have_numbers(forecast, headwater):
    lines = headwater.path("counts.csv").read_text().splitlines()[1:]
    headwater.write("bare.csv", "\n".join(lines) + "\n")
    _, rows = table(forecast("--horizon 1", "bare.csv"))
    assert [row[1] for row in rows] == ["cars", "bikes", "on, foot"]  # the model has names
    headwater("fit", "bare.csv", "--components", 2, "--prior", "basis-selection", "--init", "random",
              "--out", "model.h5")
    _, rows = table(forecast("--horizon 1", "bare.csv"))
    assert [row[1] for row in rows] == ["1", "2", "3"]


@pytest.mark.parametrize("options, message", [
    ("--horizon 0", "--horizon 0: expected a whole number from 1 to 1000000"),
    ("", "--horizon is required"),
    ("--horizon 2 --quantiles 0,0.5",
     "--quantiles 0,0.5: expected numbers above 0 and below 1 with commas between them"),
    ("--horizon 2 --quantiles 0.5,",
     "--quantiles 0.5,: expected numbers above 0 and below 1 with commas between them"),
])
def test_what_is_refused(forecast, headwater, options, message):
    done = headwater.attempt("forecast", "model.h5", "counts.csv", *options.split())
    assert (done.returncode, done.stderr.decode()) == (2, f"headwater: {message}\n")
