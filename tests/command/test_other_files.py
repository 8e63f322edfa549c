"""HDF5 can refer to other files. What a file from elsewhere refers to is read only on request."""

import h5py
import numpy as np
import pytest

from input_files import COUNTS, FIT
from resealed import sealed
from support import as_csv, held_model

REFUSED = "refers to another file; such data are read with --allow-external, such models never"


@pytest.fixture
def links(headwater):
    """A file each of whose datasets leads, in one way or another, to another file."""
    with h5py.File(headwater.path("data.h5"), "w") as file:
        file["x"] = COUNTS
        file["inside/x"] = COUNTS
    COUNTS.astype("f8").tofile(headwater.path("raw"))
    with h5py.File(headwater.path("links.h5"), "w") as file:
        file["link"] = h5py.ExternalLink("data.h5", "/x")
        file["group"] = h5py.ExternalLink("data.h5", "/inside")
        file["soft"] = h5py.SoftLink("/link")
        file["soft_group"] = h5py.SoftLink("/group")
        layout = h5py.VirtualLayout(shape=COUNTS.shape, dtype="f8")
        layout[:] = h5py.VirtualSource("data.h5", "x", shape=COUNTS.shape)
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("raw", COUNTS.shape, "f8", external=[("raw", 0, h5py.h5f.UNLIMITED)])
        file["own"] = COUNTS
        file["soft_own"] = h5py.SoftLink("/own")
    return headwater


OUTSIDE = ["/link", "/group/x", "/soft", "/soft_group/x", "/virtual", "/raw"]


def basis_of_fit(headwater, data, *arguments):
    headwater("fit", data, *FIT, *arguments, "--out", "model.h5")
    return headwater("show", "model.h5", "--basis")


@pytest.mark.parametrize("path", OUTSIDE)
def test_data_in_another_file_are_read_on_request_only(links, path):
    links.write("plain.csv", as_csv(COUNTS))
    expected = basis_of_fit(links, "plain.csv")
    links.path("model.h5").unlink()
    done = links.attempt("fit", f"links.h5:{path}", *FIT, "--out", "model.h5")
    assert done.returncode == 1
    assert done.stderr.decode() == f"headwater: links.h5: {path}: {REFUSED}\n"
    assert not links.path("model.h5").exists()
    assert basis_of_fit(links, f"links.h5:{path}", "--allow-external") == expected


@pytest.mark.parametrize("path", ["/own", "/soft_own"])
def test_a_soft_link_inside_the_file_is_followed(links, path):
    basis_of_fit(links, f"links.h5:{path}")


def test_what_leads_outside_is_not_among_the_datasets_of_a_file(links):
    done = links.attempt("fit", "links.h5:/nothing", *FIT, "--out", "model.h5")
    assert b"/nothing: is missing; the file has /own" in done.stderr
    assert b"link" not in done.stderr.replace(b"links.h5", b"")


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_basis_in_another_file_is_refused(links, path):
    done = links.attempt("simulate", "--prior", "basis-selection", "--basis", f"links.h5:{path}",
                         "--length", 5, "--out", "y.csv")
    assert (done.returncode, REFUSED in done.stderr.decode()) == (1, True)


@pytest.mark.parametrize("kind", ["external", "virtual", "link"])
def test_a_model_never_reads_another_file(headwater, kind):
    secret = np.frombuffer(b"root:x:0:0:secret".ljust(48), dtype="f8").reshape(3, 2)
    held_model(headwater, "model.h5", np.ones((3, 2)), 0.9, 0.7)
    headwater.path("secret").write_bytes(secret.tobytes())
    with h5py.File(headwater.path("other.h5"), "w") as file:
        file["basis"] = secret
    with h5py.File(headwater.path("model.h5"), "r+") as file:
        del file["basis"]
        if kind == "external":
            file.create_dataset("basis", (3, 2), "f8", external=[("secret", 0, 48)])
        elif kind == "link":
            file["basis"] = h5py.ExternalLink("other.h5", "/basis")
        else:
            layout = h5py.VirtualLayout(shape=(3, 2), dtype="f8")
            layout[:] = h5py.VirtualSource("other.h5", "basis", shape=(3, 2))
            file.create_virtual_dataset("basis", layout)
    headwater.write("model.h5", sealed(headwater.path("model.h5").read_bytes()))
    for arguments in (["show", "model.h5"], ["show", "model.h5", "--basis"]):
        done = headwater.attempt(*arguments)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().count("\n") == 1
        assert "/basis: " in done.stderr.decode()
