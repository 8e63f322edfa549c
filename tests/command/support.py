"""Runs the command and reads its output files."""

import io
import json
import subprocess

import numpy as np

# Ten times what the slowest run needs on a machine that has nothing else to do.
TIMEOUT = 120


class Command:
    """The command, run in a folder."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder

    def line(self, *arguments):
        return [self.binary] + [str(argument) for argument in arguments]

    def start(self, *arguments, **streams):
        return subprocess.Popen(self.line(*arguments), cwd=self.folder, **streams)

    def attempt(self, *arguments, given=b"", timeout=TIMEOUT, **streams):
        """Runs the command whether it succeeds or not; `given` is its standard input."""
        streams.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(self.line(*arguments), cwd=self.folder, input=given,
                              stderr=subprocess.PIPE, timeout=timeout, **streams)

    def __call__(self, *arguments, given=b""):
        """Runs the command, checks that it succeeds, and returns its standard output."""
        done = self.attempt(*arguments, given=given)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode()}"
        return done.stdout

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        self.path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def save(self, name, matrix):
        """Writes a matrix as .npy, without loss of digits."""
        np.save(self.path(name), np.asarray(matrix))
        return name

    def load(self, name):
        if name.endswith(".npy"):
            return np.load(self.path(name))
        separator = "\t" if name.endswith(".tsv") else ","
        return np.loadtxt(self.path(name), delimiter=separator, ndmin=2)

    def listing(self):
        """All files with their contents, including hidden files."""
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
                for path in sorted(self.folder.rglob("*"))}

    def basis(self, model, *flags):
        return read_csv(self("show", model, "--basis", *flags))

    def facts(self, model, *flags):
        return json.loads(self("show", model, "--json", *flags))

    def parameters(self, model, *flags):
        return self.facts(model, *flags)["prior"]["parameters"]

    def trace(self, model, *flags):
        """The trace as a dictionary: column name -> values."""
        text = self("show", model, "--trace", *flags).decode()
        names = text.partition("\n")[0].split(",")
        rows = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)
        return dict(zip(names, rows.T))

    def score(self, model, data, *arguments, given=b""):
        return json.loads(self("score", model, data, "--json", *arguments, given=given))


def read_csv(content):
    return np.loadtxt(io.BytesIO(content), delimiter=",", ndmin=2)


def as_csv(matrix, separator=",", end="\n", header=None):
    """A table as CSV: NaN is an empty cell, and no digit is lost."""
    lines = [separator.join(header)] if header else []
    for row in np.asarray(matrix, dtype=float):
        lines.append(separator.join("" if np.isnan(value) else f"{value:.17g}" for value in row))
    return "".join(line + end for line in lines)


def settings(**values):
    """settings(stay_off=0.9, stay_on=[0.7, 0.8]) -> --set stay_off=0.9 --set stay_on=0.7,0.8"""
    arguments = []
    for name, value in values.items():
        arguments += ["--set", f"{name}=" + ",".join(f"{v:.17g}" for v in np.atleast_1d(value))]
    return arguments


def held_model(headwater, name, basis, stay_off, stay_on, background=None, law=()):
    """A model file with the given parameters, made by a fit in which all of them are held. `law`:
    options that say what the law of the counts is."""
    start = basis if background is None else np.column_stack([basis, background])
    headwater.save("held_basis.npy", start)
    headwater.write("held_data.csv", as_csv(np.ones((3, len(basis)))))
    headwater("fit", "held_data.csv", "--components", basis.shape[1],
              "--prior", "basis-selection", *settings(stay_off=stay_off, stay_on=stay_on),
              "--init", "held_basis.npy", "--hold", "basis", "--hold", "stay_off",
              "--hold", "stay_on", "--average", "none", "--out", name, *law,
              *(["--background"] if background is not None else []))
    return name


def largest_relative_difference(found, expected):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    return np.max(np.abs(found - expected) / np.abs(expected))


def assert_close(found, expected, relative=1e-12, absolute=1e-13):
    np.testing.assert_allclose(found, expected, rtol=relative, atol=absolute)


def batch_error(differences):
    """The standard error of a mean, from the means of batches that are as long as a power of two: at
    most 63 of them."""
    length = 1
    while len(differences) // length >= 64:
        length *= 2
    batches = len(differences) // length
    means = np.reshape(differences[:batches * length], (batches, length)).mean(axis=1)
    return means.std(ddof=1) / np.sqrt(batches)
