"""Tables as other programs write them: recognised or refused, never guessed at in silence."""

import numpy as np
import pytest

from input_files import COUNTS, FIT
from support import as_csv


def facts(headwater, text, *arguments, name="y.csv"):
    headwater.write(name, text)
    headwater("fit", name, *FIT, *arguments, "--out", "model.h5", "--quiet")
    return headwater.facts("model.h5")


def basis(headwater, text, *arguments):
    facts(headwater, text, *arguments)
    return headwater("show", "model.h5", "--basis")


def refusal(headwater, text, *arguments):
    headwater.write("y.csv", text)
    done = headwater.attempt("fit", "y.csv", *FIT, *arguments, "--out", "none.h5")
    assert done.returncode == 1 and not headwater.path("none.h5").exists()
    assert done.stderr.count(b"\n") == 1
    return done.stderr.decode()


NAMES = [f"c{m}" for m in range(COUNTS.shape[1])]
INDEX = np.arange(len(COUNTS))[:, None]
WITH_INDEX = np.hstack([INDEX, COUNTS])


def with_dates(name):
    lines = as_csv(COUNTS).splitlines()
    return ",".join([name, *NAMES]) + "\n" + "".join(
        f"2026-01-01 00:{t:02},{line}\n" for t, line in enumerate(lines))


@pytest.fixture
def plain(headwater):
    return basis(headwater, as_csv(COUNTS, header=NAMES))


@pytest.mark.parametrize("text, options", [
    (as_csv(WITH_INDEX, header=["", *NAMES]), []),                # pandas, and R's write.csv
    (as_csv(WITH_INDEX, header=['""', *NAMES]), []),
    (as_csv(WITH_INDEX, header=["", "0", "1", "2", "3"][:len(NAMES) + 1]), ["--header", "yes"]),
    (as_csv(WITH_INDEX, header=["index", *NAMES]), ["--index-column", "index"]),
    (as_csv(WITH_INDEX, header=["Unnamed: 0", *NAMES]), ["--index-column", 1]),
    (as_csv(WITH_INDEX), ["--index-column", 1]),
    (with_dates(""), []),
    (with_dates("time"), ["--index-column", "time"]),
    (as_csv(np.hstack([COUNTS, INDEX])), ["--index-column", COUNTS.shape[1] + 1]),
    (as_csv(np.hstack([COUNTS[:, :1], INDEX, COUNTS[:, 1:]])), ["--index-column", 2])])
def test_an_index_is_no_channel(headwater, plain, text, options):
    assert basis(headwater, text, *options) == plain


@pytest.mark.parametrize("name", ["index", "Index", "Unnamed: 0", "id", "ROW"])
def test_what_may_be_an_index_is_refused_until_somebody_says(headwater, name):
    text = as_csv(WITH_INDEX, header=[name, *NAMES])
    assert refusal(headwater, text) == (
        f"headwater: y.csv:1: column 1 is called '{name}' and may number the rows; say "
        "--index-column 1 if it does, --index-column none if it holds observations\n")
    found = facts(headwater, text, "--index-column", "none")
    assert found["channels"] == COUNTS.shape[1] + 1


def test_what_may_be_times_is_refused_until_somebody_says(headwater, plain):
    text = as_csv(np.hstack([INDEX + 2000, COUNTS]), header=["Time", *NAMES])
    assert refusal(headwater, text) == (
        "headwater: y.csv:1: column 1 is called 'Time' and may date the rows; say --index-column 1 "
        "or --time-column 1 if it does, --index-column none if it holds observations\n")
    assert basis(headwater, text, "--index-column", 1) == plain


def test_a_column_that_is_not_there_is_no_index(headwater):
    text = as_csv(COUNTS, header=NAMES)
    for given in ("time", 0, COUNTS.shape[1] + 1, "1x"):
        assert f"--index-column '{given}': no column has this name" in refusal(
            headwater, text, "--index-column", given)
    assert "has no column but its index" in refusal(headwater, "1\n2\n", "--index-column", 1)
    headwater.save("y.npy", COUNTS)
    done = headwater.attempt("fit", "y.npy", *FIT, "--index-column", 1, "--out", "model.h5")
    assert done.returncode == 2 and b"only .csv and .tsv files can have one" in done.stderr


@pytest.mark.parametrize("command", ["score", "apply"])
def test_a_model_meets_data_with_an_index(headwater, command):
    basis(headwater, as_csv(COUNTS))
    headwater.write("dated.csv", with_dates("time"))
    out = ["--out", "out.csv"]
    assert headwater.attempt(command, "model.h5", "dated.csv", *out).returncode == 1
    headwater(command, "model.h5", "dated.csv", "--index-column", "time", *out)
    dated = headwater.path("out.csv").read_bytes()
    headwater(command, "model.h5", "y.csv", *out)
    assert headwater.path("out.csv").read_bytes() == dated


@pytest.mark.parametrize("mark", ["#N/A", "#NA", "#N/A N/A"])
def test_the_mark_of_a_missing_cell_is_no_comment(headwater, mark):
    rows = as_csv(COUNTS).splitlines(True)
    missing = "NA" + rows[3][rows[3].index(","):]
    expected = basis(headwater, "".join(rows[:3] + [missing] + rows[4:]))
    marked = mark + rows[3][rows[3].index(","):]
    text = "# a comment\n" + "".join(rows[:3] + ["#1,2,3\n", marked] + rows[4:])
    assert basis(headwater, text) == expected


def test_an_error_of_a_spreadsheet_is_no_comment(headwater):
    rows = as_csv(COUNTS).splitlines(True)
    text = "".join(rows[:3] + ["#DIV/0!" + rows[3][rows[3].index(","):]] + rows[4:])
    assert "y.csv:4: column 1: '#DIV/0!' is not a number" in refusal(headwater, text)


def test_a_blank_line_in_one_column_is_refused_unless_the_file_ends(headwater):
    rows = ["3\n", "1\n", "4\n", "1\n", "5\n"] * 6
    one = ["--components", 1]
    assert facts(headwater, "".join(rows) + "\n\n", *one)["observations"] == len(rows)
    headwater.path("model.h5").unlink()
    text = "x\n" + "".join(rows[:3] + ["\n"] + rows[3:])
    assert refusal(headwater, text, *one) == (
        "headwater: y.csv:5: a blank line in a file of one column; write NA for a missing cell, or "
        "leave it out\n")
    headwater.write("y.csv", text)
    done = headwater.attempt("fit", "y.csv", *FIT, *one, "--on-bad-row", "skip", "--out", "model.h5")
    assert b"1 rows could not be read" in done.stderr
    assert headwater.facts("model.h5")["observations"] == len(rows)


@pytest.mark.parametrize("name, first, others", [
    ("y.csv", "1,2", "1,2,3,4"), ("y.csv", "1,2,3,4,5", "1,2,3,4"),
    ("y.jsonl", "[1,2]", "[1,2,3,4]")])
def test_a_bad_first_row_does_not_set_the_number_of_channels(headwater, name, first, others):
    headwater.write(name, first + "\n" + (others + "\n") * 30)
    done = headwater.attempt("fit", name, *FIT, "--on-bad-row", "skip", "--out", "model.h5")
    assert done.returncode == 1 and not headwater.path("model.h5").exists()
    assert b"the first two rows must have the same number" in done.stderr


def test_below_a_header_a_bad_first_row_is_left_out(headwater):
    found = facts(headwater, "a,b,c,d\n1,2\n" + "1,2,3,4\n" * 30, "--on-bad-row", "skip")
    assert (found["channels"], found["observations"]) == (4, 30)
