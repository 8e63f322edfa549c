"""--set takes one value: it does not swallow the name of the data that follows it."""

import h5py
import pytest

REST = ("--components", 2, "--prior", "basis-selection", "--init", "random", "--quiet", "--out",
        "model.h5")


@pytest.mark.parametrize("words", [
    ["fit", "--set", "stay_on=0.6", "counts.csv", *REST],
    ["fit", "--set", "stay_on=0.6", "--set", "stay_off=0.7", "counts.csv", *REST],
    ["fit", "--config", "config", "counts.csv", *REST],
    ["fit", "counts.csv", "--config", "config", *REST],
], ids=["before the data", "twice", "config before the data", "config after the data"])
def test_the_data_are_found(headwater, words):
    headwater.write("counts.csv", "1,2\n3,4\n" * 60)
    headwater.write("config", "particles = 50\nset = stay_on=0.6\n")
    headwater(*words)
    assert headwater.facts("model.h5")["observations"] == 120
    with h5py.File(headwater.path("model.h5")) as model:
        assert model["options/start-stay_on"][()].decode() == "0.6"
