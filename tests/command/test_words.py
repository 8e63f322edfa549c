"""What comes from elsewhere and is shown to people cannot command their terminal."""

import json
import re
import subprocess

import h5py
import numpy as np
import pytest

from resealed import sealed
from support import as_csv, held_model

# An escape sequence, the same by a C1 character, a bell, a carriage return, a right-to-left override
# and a byte that is no UTF-8.
EVIL = "\x1b]0;owned\x07\x9b31m\r\u202egnp.exe"
EVIL_FILE = EVIL.encode() + b"\xff"


def is_harmless(output):
    """Whether a terminal would show every character and execute none."""
    text = output.decode()  # throws if it is no UTF-8
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)


@pytest.fixture
def evil_model(headwater):
    held_model(headwater, "model.h5", np.ones((3, 2)), 0.9, 0.7)
    with h5py.File(headwater.path("model.h5"), "r+") as file:
        file.attrs["version"] = EVIL
        file.attrs["engine_reason"] = EVIL
        del file["options/average"]
        file["options/average"] = EVIL
        columns = file["trace/columns"].asstr()[()].split("\n")
        del file["trace/columns"]
        file["trace/columns"] = "\n".join([EVIL] + columns[1:])
    headwater.write("model.h5", sealed(headwater.path("model.h5").read_bytes()))
    return headwater


@pytest.mark.parametrize("flags", [[], ["--trace"], ["--json"]])
def test_fields_of_a_model_are_shown_not_obeyed(evil_model, flags):
    assert is_harmless(evil_model("show", "model.h5", *flags))


def test_json_keeps_every_character(evil_model):
    assert json.loads(evil_model("show", "model.h5", "--json"))["version"] == EVIL


def test_an_unknown_name_in_a_model_is_shown_not_obeyed(evil_model):
    with h5py.File(evil_model.path("model.h5"), "r+") as file:
        del file["prior/name"]
        file["prior/name"] = EVIL
    evil_model.write("model.h5", sealed(evil_model.path("model.h5").read_bytes()))
    done = evil_model.attempt("show", "model.h5")
    assert done.returncode == 1 and is_harmless(done.stderr)
    assert done.stderr.count(b"\n") == 1


def test_names_of_files_are_shown_not_obeyed(headwater):
    name = EVIL_FILE + b".h5"
    headwater.write("y.csv", as_csv(np.ones((20, 3))))
    fit = [b"fit", b"y.csv", b"--components", b"2", b"--prior", b"basis-selection", b"--out", name]
    done = subprocess.run([headwater.binary, *fit], cwd=headwater.folder, capture_output=True)
    assert done.returncode == 0 and is_harmless(done.stderr)
    assert rb"\x1b]0;owned\x07" in done.stderr
    for arguments in ([b"show", b"missing" + name], [b"show", name, b"--compare", EVIL_FILE],
                      [b"score", name, EVIL_FILE + b".csv"], [EVIL_FILE], [b"--" + EVIL_FILE]):
        done = subprocess.run([headwater.binary, *arguments], cwd=headwater.folder,
                              capture_output=True)
        assert done.returncode in (1, 2) and is_harmless(done.stderr + done.stdout)
        assert done.stderr.count(b"\n") == 1
