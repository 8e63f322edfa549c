"""The same data in any file format give the same result; unusual files give a result or an
error."""

import gzip
import io
import json
import os
import resource
import subprocess
import time

import h5py
import numpy as np
import pytest

from hidden_markov import selection_chain, simulate
from support import TIMEOUT, as_csv, held_model

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
    (["0", "1", "2", "3"], "the first row numbers the columns from 0 to 3")])
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


def small_fit(data, *more):
    return ["fit", data, "--components", 1, "--prior", "basis-selection", "--init", "random",
            "--out", "x.h5", "--quiet", *more]


def test_very_large_and_very_small_values(headwater):
    headwater.write("y.csv", "1000000000,5e-324\n999999999,1e-310\n1e12,0\n0,1e-400\n")
    assert attempt(headwater, *small_fit("y.csv")) == (0, "")
    assert np.all(np.isfinite(headwater.basis("x.h5")))


def test_a_million_channels(headwater):
    headwater.write("wide.csv", (",".join(["1"] * 10 ** 6) + "\n") * 3)
    headwater.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 1000000 2\n"
                                "1 1000000 1\n3 1 1\n")
    for name in "wide.csv", "wide.mtx":
        assert attempt(headwater, *small_fit(name), limit=2 * 10 ** 9) == (0, "")


def test_a_line_without_end(headwater):
    """A line of 1 GB from a pipe, with less memory than that."""
    reader, writer = os.pipe()
    filler = subprocess.Popen(["sh", "-c", "head -c 1000000000 /dev/zero | tr '\\0' 7"],
                              stdout=writer)
    os.close(writer)
    code, message = attempt(headwater, *small_fit("-"), stdin=reader, given=None)
    os.close(reader)
    filler.wait()
    assert (code, message) == (1, "standard input:1: the line is longer than 268435456 bytes")


def test_compressed_zeros_take_no_memory(headwater):
    """A small file that decompresses to a line of 1 GB."""
    piece = gzip.compress(b"0" * 10 ** 7)
    headwater.write("zeros.csv.gz", piece * 100)
    assert attempt(headwater, *small_fit("zeros.csv.gz")) == (
        1, "zeros.csv.gz:1: the line is longer than 268435456 bytes")


def test_nesting_without_end(headwater):
    headwater.write("deep.jsonl", '{"x":' + "[" * 10 ** 7 + "\n")
    assert attempt(headwater, *small_fit("deep.jsonl")) == (
        1, "deep.jsonl:1: column 106: nested over 100 deep")


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_give_a_result_or_an_error(headwater, seed):
    """Random bytes are changed, and the end is cut off."""
    random = np.random.default_rng(seed)
    with h5py.File(headwater.path("tiles.h5"), "w") as file:
        file.create_dataset("x", **DATASETS["tiles"])
    files = {name: FILES[name] for name in ("counts.csv", "counts.csv.gz", "counts.npy",
                                            "by_column.mtx", "objects.ndjson")}
    files["tiles.h5"] = headwater.path("tiles.h5").read_bytes()
    for name, content in files.items():
        damaged = bytearray(content if isinstance(content, bytes) else content.encode())
        for _ in range(random.integers(1, 4)):
            damaged[random.integers(len(damaged))] = random.integers(256)
        if seed % 2:
            del damaged[random.integers(len(damaged)):]
        headwater.write(name, bytes(damaged))
        data = name + ":/x" if name.endswith(".h5") else name
        code, message = attempt(headwater, *small_fit(data))
        assert code == 0 or message.startswith(name), message


def test_a_truncated_gz_says_behind_which_line(headwater):
    headwater.write("cut.csv.gz", FILES["stored.csv.gz"][:1000])
    lines = CSV[:1000 - 15].count("\n")  # after the two headers
    assert attempt(headwater, *small_fit("cut.csv.gz")) == (
        1, f"cut.csv.gz: the compressed data are cut off after line {lines}")


def test_an_unknown_compression_of_hdf5_is_named(headwater):
    with h5py.File(headwater.path("lzf.h5"), "w") as file:
        file.create_dataset("x", data=COUNTS, compression="lzf")
    assert attempt(headwater, *small_fit("lzf.h5:/x")) == (
        1, "lzf.h5: /x: needs the HDF5 filter 'lzf' (32000), which is not installed")


def patch(headwater, name, old, new):
    content = headwater.path(name).read_bytes()
    assert content.count(old) == 1 and len(old) == len(new)
    headwater.write(name, content.replace(old, new))


def test_hdf5_chunks_that_cannot_be_are_refused(headwater):
    """libhdf5 itself would read out of bounds."""
    with h5py.File(headwater.path("tiles.h5"), "w") as file:
        file.create_dataset("x", data=COUNTS.astype("i2"), chunks=(64, 3), compression="gzip")
    sizes = np.array([64, 3, 2], dtype="<i4")
    patch(headwater, "tiles.h5", sizes.tobytes(), (sizes + [0, 1000000, 0]).astype("<i4").tobytes())
    assert attempt(headwater, *small_fit("tiles.h5:/x")) == (
        1, "tiles.h5: /x: is damaged: its chunks do not fit it")


def test_an_hdf5_group_that_lost_its_name_does_not_contain_itself(headwater):
    with h5py.File(headwater.path("group.h5"), "w") as file:
        file["a_long_name/counts"] = COUNTS
    patch(headwater, "group.h5", b"a_long_name", bytes(11))
    code, message = attempt(headwater, *small_fit("group.h5:/counts"))
    assert code == 1 and message.startswith("group.h5: /counts: is missing")


def test_hdf5_data_may_lie_in_another_file(headwater, expected):
    with h5py.File(headwater.path("data.h5"), "w") as file:
        file["x"] = np.tile(COUNTS, (400, 1))
        file["same"] = COUNTS
    with h5py.File(headwater.path("links.h5"), "w") as file:
        file["large"] = h5py.ExternalLink("data.h5", "/x")
        file["same"] = h5py.ExternalLink("data.h5", "/same")
        layout = h5py.VirtualLayout(shape=COUNTS.shape, dtype="f8")
        layout[:] = h5py.VirtualSource("data.h5", "same", shape=COUNTS.shape)
        file.create_virtual_dataset("virtual", layout)
    assert fit(headwater, "links.h5:/same") == expected
    assert fit(headwater, "links.h5:/virtual") == expected
    assert attempt(headwater, *small_fit("links.h5:/large"))[0] == 0
