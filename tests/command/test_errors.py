"""Every error gives one line that says what is wrong and the right exit code, and leaves no
files."""

import pathlib
import subprocess
import time
import zlib

import h5py
import numpy as np
import pytest

from error_cases import (DATA, DATA_FILES, MODELS, RANDOM_BASIS, SHAPES, USAGE, WRITING, fit, near,
                         simulate)
from support import TIMEOUT, as_csv, held_model

FAILED, BAD_USAGE = 1, 2


@pytest.fixture(scope="module")
def here(shared_headwater):
    """The command in a folder with files that are invalid in one way each."""
    command = shared_headwater
    for name, content in DATA_FILES.items():
        command.write(name, content)
    for name in "folder.h5", "folder.csv":
        command.path(name).mkdir()
    command.save("negative.npy", [[1.0, 2.0], [3.0, -4.0]])
    command.save("cube.npy", np.ones((2, 2, 2, 2)))
    command.save("words.npy", np.array([["a", "b"]]))
    command.save("none.npy", np.ones((0, 2)))
    command.write("not_npy.npy", "1,2\n")
    held_model(command, "model.h5", np.array([[1.0, 2.0], [3.0, 4.0]]), 0.9, 0.7)
    whole = command.path("model.h5").read_bytes()
    for size in 8, 100, 2000, len(whole) - 1:
        command.write(f"cut_{size}.h5", whole[:size])
    command.write("cut.npy", command.path("negative.npy").read_bytes()[:-1])
    with h5py.File(command.path("foreign.h5"), "w") as file:
        file["basis"] = [[1.0, 2.0]]
    return command


def check_error(done, code, message):
    """message: the exact text, or a pattern for all of it."""
    text = done.stderr.decode()
    assert done.returncode == code, text
    assert text.startswith("headwater: ") and text.endswith("\n") and text.count("\n") == 1, text
    found = text[len("headwater: "):-1]
    if isinstance(message, str):
        assert found == message
    else:
        assert message.fullmatch(found), found
    assert not done.stdout


def check_fails(here, arguments, code, message, **streams):
    before = here.listing()
    done = here.attempt(*arguments, **streams)
    check_error(done, code, message)
    assert here.listing() == before


def cases(table):
    return pytest.mark.parametrize("arguments, message", list(table.values()), ids=list(table))


@cases(DATA)
def test_data_that_cannot_be_read(here, arguments, message):
    check_fails(here, arguments, FAILED, message)


@cases(SHAPES)
def test_shapes_that_do_not_fit(here, arguments, message):
    check_fails(here, arguments, FAILED, message)


@cases(WRITING)
def test_output_that_cannot_be_written(here, arguments, message):
    check_fails(here, arguments, FAILED, message)


@cases(USAGE)
def test_bad_usage(here, arguments, message):
    check_fails(here, arguments, BAD_USAGE, message)


@pytest.mark.parametrize("name", ["stay_off", "stay_on"])
@pytest.mark.parametrize("value", ["0", "1", "1.5", "-0.1", "nan", "inf"])
def test_a_probability_outside_0_and_1(here, name, value):
    message = near(f"{name} is {value}; expected a number inside \\(0, 1\\)")
    check_fails(here, fit("good.csv", "--set", f"{name}={value}"), BAD_USAGE, message)
    check_fails(here, simulate(*RANDOM_BASIS, "--set", f"{name}={value}"), BAD_USAGE, message)


@pytest.mark.parametrize("command", [["show"], ["apply", "good.csv", "--out", "x.csv"],
                                     ["score", "good.csv"]], ids=lambda command: command[0])
@pytest.mark.parametrize("model, message", list(MODELS.values()), ids=list(MODELS))
def test_a_model_that_is_none(here, command, model, message):
    check_fails(here, [command[0], model, *command[1:]], FAILED, message)


def test_a_model_that_is_cut_off(here):
    names = [path.name for path in here.folder.glob("cut_*.h5")]
    assert len(names) == 4
    for name in names:
        check_fails(here, ["show", name], FAILED,
                    near(f"{name}: (was damaged, or changed since.*|is not a headwater model)"))


def seal_anew(path):
    """Recomputes the seal as docs/file_formats.md describes it."""
    contents = path.read_bytes()[512:]
    seal = f"headwater model\nchecksum {zlib.crc32(contents):08x}\n".encode().ljust(512, b"\0")
    path.write_bytes(seal + contents)


# With a valid seal a modified model is read, and the error names the invalid part.
@pytest.mark.parametrize("change, message", [
    (lambda file: file.attrs.modify("format_version", 7),
     "is a model file of format version 7; this program reads version 1"),
    (lambda file: file["basis"].write_direct(np.full((2, 2), np.nan)),
     "/basis has an entry that is negative or not finite"),
    (lambda file: file.__delitem__("summary/observations"), "/summary/observations: is missing"),
])
def test_a_model_that_somebody_has_changed(here, change, message):
    whole = here.path("model.h5").read_bytes()
    here.write("changed.h5", whole)
    with h5py.File(here.path("changed.h5"), "r+") as file:
        change(file)
    check_fails(here, ["show", "changed.h5"], FAILED,
                "changed.h5: was damaged, or changed since it was written: its checksum is wrong")
    seal_anew(here.path("changed.h5"))
    check_fails(here, ["show", "changed.h5"], FAILED, near(f"changed.h5: {message}"))


def test_a_model_without_its_seal(here):
    here.write("open.h5", here.path("model.h5").read_bytes()[512:])
    check_fails(here, ["show", "open.h5"], FAILED, "open.h5: is not a headwater model")


def test_a_config_file_that_is_missing(here):
    check_fails(here, fit("good.csv", "--config", "nowhere.conf"), FAILED, near(".*nowhere.conf.*"))


@pytest.mark.parametrize("content, message", [
    ("1,2\n3\n", "standard input:2: 1 cell where line 1 has 2; the first two rows must have the same "
                "number"),
    ("1,2\n3,-4\n", near("standard input:2: column 2: '-4' is negative.*")),
    ("", "standard input: holds no observations"),
], ids=["ragged", "negative", "empty"])
def test_standard_input_is_named(here, content, message):
    check_fails(here, fit("-"), FAILED, message, given=content.encode())


@pytest.mark.parametrize("arguments", [["show", "model.h5", "--basis"], ["show", "model.h5"],
                                       ["show", "model.h5", "--json"],
                                       ["show", "model.h5", "--trace"],
                                       ["score", "model.h5", "good.csv"],
                                       ["score", "model.h5", "good.csv", "--json"],
                                       ["apply", "model.h5", "good.csv", "--out", "-"],
                                       simulate(*RANDOM_BASIS, out="-")],
                         ids=lambda arguments: " ".join(str(part) for part in arguments))
def test_a_full_disk_behind_standard_output(here, arguments):
    with open("/dev/full", "wb") as full:
        check_fails(here, arguments, FAILED, near(".*No space left on device.*"), stdout=full)


def test_a_failed_run_leaves_an_earlier_result_alone(headwater):
    headwater.write("bad.csv", as_csv(np.ones((500, 2))) + "1,-1\n")
    headwater.write("x.h5", "an earlier result")
    check_fails(headwater, fit("bad.csv"), FAILED,
                "bad.csv:501: column 2: '-1' is negative; observations must be 0 or more")


def test_quiet_does_not_silence_an_error(here):
    check_fails(here, fit("empty.csv", "--quiet"), FAILED, "empty.csv: holds no observations")


def wait_until_it_writes(process, least_bytes):
    """A temporary file may have no name, but Linux counts what a process has written."""
    written = 0
    while written < least_bytes:
        assert process.poll() is None
        lines = pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines()
        written = int(dict(line.split(": ") for line in lines)["wchar"])
        time.sleep(0.01)


def test_a_run_that_is_stopped_leaves_no_output(headwater):
    """A stopped run may leave a temporary file, but never one that looks like a result."""
    process = headwater.start(*simulate(*RANDOM_BASIS, length=10 ** 9),
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_until_it_writes(process, 10 ** 6)
    process.terminate()
    process.communicate(timeout=TIMEOUT)
    assert process.returncode != 0
    assert not headwater.path("x.csv").exists()
