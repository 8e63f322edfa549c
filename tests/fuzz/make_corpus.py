"""Writes the files that fuzzing starts from: small ones that are right, in every form, and some
that are wrong. Usage: make_corpus.py HEADWATER FOLDER"""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

Y = np.array([[1, 0, 3], [2, 5, 0], [0, 0, 7], [4, 1, 1]])

CSV = {"plain": "1,0,3\n2,5,0\n", "header": "a,b,c\n1,2,3\n", "quoted": '"a","b"\r\n"1","2"\r\n',
       "missing": "1,,NA\nNaN,2,3\n", "comment": "# counts\n1,2\n", "real": "1e3,2.5,-0\n.5,1.,0\n",
       "negative": "1,-2\n", "ragged": "1,2\n3\n4,5\n", "large": "1000000000,1e15\n0,1e-320\n",
       "index": ",a,b\n0,1,2\n1,3,4\n", "marks": "1,2\n#N/A,3\n"}
JSONL = {"bare": "[1,0,3]\n[2,5,0]\n", "object": '{"t": 1, "y": [1, 2]}\n{"t": 2, "y": [null, 3]}\n',
         "nested": '{"a": {"b": [1, {"c": "\\u00e9"}]}, "y": [1]}\n', "bad": "[1,2\n[3,4]\n"}
MTX = {"coordinate": "%%MatrixMarket matrix coordinate integer general\n% c\n3 2 3\n1 1 4\n2 2 1\n3 1 2\n",
       "unsorted": "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 1 4\n1 2 1.5\n2 1 1\n",
       "array": "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
       "symmetric": "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 1\n"}


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def hdf5(array, **options):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_dataset("counts", data=array, **options)
    return buffer.getvalue()


# As in targets.cc.
CHECKPOINTS = {
    "exact": ["--prior", "basis-selection"],
    "beam": ["--prior", "basis-selection", "--engine", "beam", "--beam-width", "3"],
    "dispersed": ["--prior", "basis-selection", "--counts", "negative-binomial"],
    "fast": ["--prior", "gamma", "--engine", "fast"],
    "forward": ["--prior", "basis-selection", "--smoother", "forward"],
    "paris": ["--prior", "log-gaussian", "--smoother", "paris"],
    "path": ["--prior", "relaxed-selection", "--smoother", "path"],
    "printed": ["--prior", "relaxed-selection", "--paper-exact"],
}


def by_command(headwater, folder):
    """A model of each kind of prior and law, and a checkpoint of each kind of state."""
    rows = "".join(f"{(t * 7) % 5},{t % 3},{(t * t) % 4}\n" for t in range(160))
    (folder / "y.csv").write_text(rows)

    def fit(*arguments):
        subprocess.run([headwater, "fit", "y.csv", "--components", "2", "--quiet", *arguments],
                       cwd=folder, check=True)

    models = {}
    laws = {prior: "poisson" for prior in ("relaxed-selection", "log-gaussian", "gamma", "finite")}
    for prior, law in {**laws, "basis-selection": "negative-binomial"}.items():
        fit("--prior", prior, "--counts", law, "--particles", "10", "--trace-every", "80", "--out",
            "m.h5")
        models[prior] = (folder / "m.h5").read_bytes()
    checkpoints = {}
    for kind, arguments in CHECKPOINTS.items():
        fit(*arguments, "--init", "random", "--burn-in", "20", "--particles", "10", "--out", "m.h5",
            "--checkpoint", "c")
        checkpoints[kind] = (folder / "c").read_bytes()
    for name in ("y.csv", "m.h5", "c"):
        (folder / name).unlink()
    return models, checkpoints


def main():
    headwater, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    models, checkpoints = by_command(headwater, folder)
    texts = {"csv": CSV, "jsonl": JSONL, "mtx": MTX}
    corpus = {kind: {name: text.encode() for name, text in files.items()}
              for kind, files in texts.items()}
    corpus["csv_gz"] = {name: gzip.compress(CSV[name].encode(), mtime=0)
                        for name in ("plain", "missing")}
    corpus["npy"] = {kind: npy(Y.astype(kind)) for kind in ("i4", "f8", "u1", "f2", ">f4", "?")}
    corpus["npy"]["fortran"] = npy(np.asfortranarray(Y))
    corpus["hdf5"] = {"plain": hdf5(Y), "chunked": hdf5(Y, chunks=(2, 2)),
                      "deflated": hdf5(Y.astype("f4"), compression="gzip", shuffle=True)}
    corpus["http"] = {path or "page": f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                      for path in ("", "state.json", "metrics", "healthz", "events", "nothing")}
    corpus["http"]["origin"] = (b"GET /metrics HTTP/1.1\r\nHost: [::1]:80\r\n"
                                b"Origin: http://[::1]:80\r\nConnection: close\r\n\r\n")
    corpus["model"] = models
    corpus["checkpoint"] = {"exact": checkpoints["exact"]}
    for kind, checkpoint in checkpoints.items():
        corpus["state" if kind == "exact" else f"state_{kind}"] = {kind: state_of(checkpoint)}
    for kind, files in corpus.items():
        (folder / kind).mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / kind / name.replace(">", "be_").replace("?", "bool")).write_bytes(content)


def state_of(checkpoint):
    """The last field of a checkpoint: a length and so many bytes."""
    for at in range(len(checkpoint) - 8):
        if int.from_bytes(checkpoint[at:at + 8], "little") == len(checkpoint) - at - 8:
            return checkpoint[at + 8:]
    raise ValueError("no state in the checkpoint")


if __name__ == "__main__":
    main()
