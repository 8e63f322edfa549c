"""The same counts in every file format that the command reads."""

import gzip
import io
import json
import os
import resource

import h5py
import numpy as np

from hidden_markov import selection_chain, simulate
from support import as_csv

BASIS = np.random.default_rng(40).uniform(0, 10, (4, 3))
COUNTS = simulate(selection_chain(3, 0.85, 0.7), BASIS, 400, seed=41)
ROWS, COLUMNS = COUNTS.shape
FIT = ["--components", 3, "--prior", "basis-selection"]


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def json_lines(matrix):
    return "".join(json.dumps(row) + "\n" for row in matrix.tolist())


def json_objects(matrix):
    return "".join(json.dumps({"t": t, "y": row, "unit": "counts"}) + "\n"
                   for t, row in enumerate(matrix.tolist()))


def mtx_array(matrix, field="real"):
    cells = "".join(f"{value:g}\n" for value in matrix.T.ravel())
    return f"%%MatrixMarket matrix array {field} general\n{ROWS} {COLUMNS}\n{cells}"


def mtx_entries(matrix, order, field="integer"):
    """Entries sorted by "row", by "column" (as scipy.io.mmwrite and MATLAB write them), or not at
    all."""
    rows, columns = np.nonzero(matrix)
    if order == "column":
        columns, rows = np.nonzero(matrix.T)
    if order == "none":
        shuffled = np.random.default_rng(1).permutation(len(rows))
        rows, columns = rows[shuffled], columns[shuffled]
    lines = "".join(f"{i + 1} {j + 1} {matrix[i, j]:g}\n" for i, j in zip(rows, columns))
    return (f"%%MatrixMarket matrix coordinate {field} general\n% counts\n"
            f"{ROWS} {COLUMNS} {len(rows)}\n{lines}")


def mtx_duplicates(matrix):
    """Every count n is written as n entries of 1."""
    rows, columns = np.nonzero(matrix)
    times = matrix[rows, columns].astype(int)
    lines = "".join(f"{i + 1} {j + 1} 1\n" * n for i, j, n in zip(rows, columns, times))
    return (f"%%MatrixMarket matrix coordinate real general\n{ROWS} {COLUMNS} {times.sum()}\n"
            f"{lines}")


CSV = as_csv(COUNTS)

FILES = {
    "counts.csv": CSV,
    "counts.tsv": as_csv(COUNTS, separator="\t"),
    "comments.csv": "# counts\n" + as_csv(COUNTS, header=["a", '"b, c"', "d", '"e ""f"""'],
                                          end="\r\n").replace("\r\n", "\r\n#\r\n", 3),
    "quoted.csv": "".join(f'"{line}"\n'.replace(",", '","') for line in CSV.splitlines()),
    "counts.csv.gz": gzip.compress(CSV.encode()),
    "stored.csv.gz": gzip.compress(CSV.encode(), compresslevel=0),
    "pieces.csv.gz": b"".join(gzip.compress(line.encode()) for line in CSV.splitlines(True)),
    "counts.tsv.gz": gzip.compress(as_csv(COUNTS, separator="\t").encode()),
    "counts.npy": npy(COUNTS),
    "fortran.npy": npy(np.asfortranarray(COUNTS)),
    "int32.npy": npy(COUNTS.astype("i4")),
    "float32.npy": npy(COUNTS.astype("f4")),
    "array.mtx": mtx_array(COUNTS),
    "array_of_integers.mtx": mtx_array(COUNTS, "integer"),
    "by_row.mtx": mtx_entries(COUNTS, "row"),
    "by_column.mtx": mtx_entries(COUNTS, "column", "real"),
    "no_order.mtx": mtx_entries(COUNTS, "none"),
    "duplicates.mtx": mtx_duplicates(COUNTS),
    "by_row.mtx.gz": gzip.compress(mtx_entries(COUNTS, "row").encode()),
    "by_column.mtx.gz": gzip.compress(mtx_entries(COUNTS, "column").encode()),
    "counts.jsonl": json_lines(COUNTS),
    "whole_numbers.jsonl": json_lines(COUNTS.astype(int)),
    "objects.ndjson": json_objects(COUNTS),
    "objects.jsonl.gz": gzip.compress(json_objects(COUNTS).encode()),
}

DATASETS = {
    "x": {"data": COUNTS},
    "rows": {"data": COUNTS, "chunks": (7, COLUMNS)},
    "columns": {"data": COUNTS.astype("f4"), "chunks": (ROWS, 1), "compression": "gzip"},
    "tiles": {"data": COUNTS.astype("i2"), "chunks": (64, 3), "compression": "gzip",
              "shuffle": True, "fletcher32": True},
    "growing": {"data": COUNTS.astype("u1"), "maxshape": (None, COLUMNS)},
    "group/half": {"data": COUNTS.astype("f2")},
    "big_endian": {"data": COUNTS.astype(">u8")},
}


def small_fit(data, *more):
    return ["fit", data, "--components", 1, "--prior", "basis-selection", "--init", "random",
            "--out", "x.h5", "--quiet", *more]


def attempt(headwater, *arguments, limit=10 ** 9, **streams):
    """Runs the command with limited memory. It must succeed, or fail with one line that says
    why."""
    if "SANITIZED" in os.environ:  # sanitizers reserve terabytes of address space
        limit = resource.RLIM_INFINITY
    done = headwater.attempt(
        *arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        **streams)
    text = done.stderr.decode()
    assert done.returncode in (0, 1, 2), text
    if done.returncode != 0:
        assert text.startswith("headwater: ") and text.count("\n") == 1
    return done.returncode, text[len("headwater: "):-1]
