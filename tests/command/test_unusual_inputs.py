"""Unusual and damaged files give a result or an error of one line, within limited memory."""

import gzip
import os
import subprocess

import h5py
import numpy as np
import pytest

from input_files import COUNTS, CSV, DATASETS, FILES, attempt, small_fit


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
