"""The same data in any file format give the same result."""

import gzip
import json
import os
import subprocess
import time

import h5py
import numpy as np
import pytest

from input_files import (BASIS, COLUMNS, COUNTS, CSV, DATASETS, FILES, FIT, ROWS, attempt,
                         json_lines, mtx_array, mtx_entries, npy, small_fit)
from support import TIMEOUT, as_csv, held_model


def fit(headwater, data, *arguments, out="model.h5", given=b""):
    headwater("fit", data, *FIT, *arguments, "--out", out, given=given)
    return headwater("show", out, "--basis")


@pytest.fixture(scope="module")
def expected(shared_headwater):
    shared_headwater.write("plain.csv", CSV)
    return fit(shared_headwater, "plain.csv")


@pytest.mark.parametrize("name", list(FILES))
def test_every_kind_of_file_gives_the_same_basis(headwater, expected, name):
    headwater.write(name, FILES[name])
    assert fit(headwater, name) == expected


@pytest.mark.parametrize("name", list(DATASETS))
def test_every_dataset_gives_the_same_basis(headwater, expected, name):
    with h5py.File(headwater.path("counts.h5"), "w") as file:
        file.create_dataset(name, **DATASETS[name])
    assert fit(headwater, f"counts.h5:/{name}") == expected


@pytest.mark.parametrize("format, name", [("csv", "counts.csv"), ("tsv", "counts.tsv"),
                                          ("jsonl", "objects.ndjson"), ("mtx", "by_row.mtx"),
                                          ("mtx", "by_column.mtx"), ("mtx", "array.mtx")])
def test_a_format_that_is_given_overrides_the_name(headwater, expected, format, name):
    content = FILES[name].encode()
    assert fit(headwater, "-", "--format", format, given=content) == expected
    headwater.write("counts.data", content)
    assert fit(headwater, "counts.data", "--format", format) == expected


@pytest.mark.parametrize("names, options", [
    (["15E30", "2B", "7", "8"], []),  # one name makes a header
    (["15E30", "2", "7", "8"], ["--header", "yes"]),
    (["0", "1", "2", "3"], ["--header", "yes"]),
    ([], ["--header", "no"])])
def test_a_header_is_recognised_or_named(headwater, expected, names, options):
    headwater.write("counts.csv", as_csv(COUNTS, header=names or None))
    headwater.write("counts.tsv", as_csv(COUNTS, header=names or None, separator="\t"))
    for name in "counts.csv", "counts.tsv":
        assert fit(headwater, name, *options) == expected


@pytest.mark.parametrize("names, doubt", [
    (["15E30", "2", "7", "8"], "column 1: '15E30' is beyond 1e+15"),
    (["0", "1", "2", "3"], "the first row numbers the columns from 0 to 3"),
    (["8336", "8111", "9262", "9172"],
     "the numbers of the first row all differ and are 8111 or more, those of the second are less")])
def test_a_first_row_that_may_be_a_header_is_refused(headwater, names, doubt):
    headwater.write("counts.csv", as_csv(COUNTS, header=names))
    assert attempt(headwater, *small_fit("counts.csv")) == (
        1, f"counts.csv:1: {doubt}; say --header yes if this row holds names, --header no if it "
           "holds observations")


def test_the_number_of_columns_names_nothing_in_a_basis(headwater):
    """A row 0,1,2 of a starting basis is a row."""
    headwater.write("counts.csv", CSV)
    headwater.write("start.csv", "0,1,2\n" + as_csv(BASIS[1:]))
    headwater.save("start.npy", np.vstack([[0, 1, 2], BASIS[1:]]))
    assert (fit(headwater, "counts.csv", "--init", "start.csv") ==
            fit(headwater, "counts.csv", "--init", "start.npy"))


def test_other_commands_read_all_of_it_too(headwater):
    model = held_model(headwater, "model.h5", BASIS, 0.85, 0.7)
    headwater.write("counts.csv", CSV)
    headwater("apply", model, "counts.csv", "--out", "x.csv")
    scored = headwater.score(model, "counts.csv")
    for name in "counts.csv.gz", "by_column.mtx", "objects.ndjson":
        headwater.write(name, FILES[name])
        headwater("apply", model, name, "--out", "same.csv")
        assert headwater.path("same.csv").read_bytes() == headwater.path("x.csv").read_bytes()
        assert headwater.score(model, name) == scored
    given = FILES["counts.jsonl"].encode()
    assert headwater.score(model, "-", "--format", "jsonl", given=given) == scored


def test_a_basis_may_be_in_any_kind_of_file(headwater):
    headwater.write("counts.csv", CSV)
    headwater.write("start.csv.gz", gzip.compress(as_csv(BASIS).encode()))
    headwater.write("start.jsonl", json_lines(BASIS))
    with h5py.File(headwater.path("start.h5"), "w") as file:
        file["deep/inside/basis"] = BASIS
    bases = [fit(headwater, "counts.csv", "--init", name)
             for name in ("start.csv.gz", "start.jsonl", "start.h5:/deep/inside/basis")]
    assert bases[0] == bases[1] == bases[2]
    fit(headwater, "counts.csv", "--init", "start.jsonl", out="first.h5")
    assert fit(headwater, "counts.csv", "--init", "first.h5:/basis", out="second.h5")


def test_missing_cells_are_the_same_in_every_kind_of_file(headwater):
    holes = COUNTS.copy()
    holes[np.random.default_rng(2).random(holes.shape) < 0.1] = np.nan
    headwater.write("holes.csv", as_csv(holes))
    headwater.write("na.csv", as_csv(np.nan_to_num(holes, nan=-1)).replace("-1", "NA"))
    headwater.write("null.jsonl", json_lines(holes).replace("NaN", "null"))
    headwater.write("nan.jsonl", json_lines(holes))
    headwater.write("array.mtx", mtx_array(holes))
    headwater.write("entries.mtx", mtx_entries(holes, "column", "real"))
    headwater.save("holes.npy", holes)
    with h5py.File(headwater.path("holes.h5"), "w") as file:
        file["x"] = holes
    names = ["holes.csv", "na.csv", "null.jsonl", "nan.jsonl", "array.mtx", "entries.mtx",
             "holes.npy", "holes.h5:/x"]
    assert len({fit(headwater, name) for name in names}) == 1


def test_booleans_are_counts_of_0_and_1(headwater):
    headwater.save("truth.npy", COUNTS > 5)
    headwater.write("truth.csv", as_csv(COUNTS > 5))
    rows, columns = np.nonzero(COUNTS > 5)
    lines = "".join(f"{i + 1} {j + 1}\n" for i, j in zip(rows, columns))
    headwater.write("truth.mtx", "%%MatrixMarket matrix coordinate pattern general\n"
                                 f"{ROWS} {COLUMNS} {len(rows)}\n{lines}")
    with h5py.File(headwater.path("truth.h5"), "w") as file:
        file["x"] = COUNTS > 5
    names = ["truth.npy", "truth.csv", "truth.mtx", "truth.h5:/x"]
    assert len({fit(headwater, name) for name in names}) == 1


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, f"nothing happened for {TIMEOUT} s"
        time.sleep(0.01)


def log_lines(headwater):
    path = headwater.path("fit.log")
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_follow_reads_what_is_added(headwater):
    """A line is processed when it is complete, and not before."""
    headwater.save("start.npy", BASIS)
    headwater.write("counts.csv", as_csv(COUNTS[:100]))
    process = headwater.start("fit", "counts.csv", "--follow", *FIT, "--init", "start.npy",
                              "--log", "fit.log", "--out", "model.h5", stderr=subprocess.PIPE)
    try:
        wait_until(lambda: log_lines(headwater) == 100)
        with open(headwater.path("counts.csv"), "a") as file:
            file.write("1,2,3,4\n5,6,")
            file.flush()
            wait_until(lambda: log_lines(headwater) == 101)
            file.write("7,8\n")
            file.flush()
            wait_until(lambda: log_lines(headwater) == 102)
        os.truncate(headwater.path("counts.csv"), 10)
        message = process.communicate(timeout=TIMEOUT)[1].decode()
        assert process.returncode == 1
        assert message.startswith("headwater: counts.csv: shrank from ")
    finally:
        process.kill()
        process.communicate()


def test_a_pipe_is_read_line_by_line(headwater):
    headwater.save("start.npy", BASIS)
    process = headwater.start("fit", "-", "--format", "jsonl", *FIT, "--init", "start.npy", "--log",
                              "fit.log", "--out", "model.h5", "--quiet", stdin=subprocess.PIPE)
    for t, line in enumerate(FILES["counts.jsonl"].splitlines(True)[:5], 1):
        process.stdin.write(line.encode())
        process.stdin.flush()
        wait_until(lambda: log_lines(headwater) == t)
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert headwater.facts("model.h5")["observations"] == 5
