"""Where the sections work: the programs, the sizes, the folders, and what was run."""

import concurrent.futures
import io
import pathlib
import shlex
import subprocess

import numpy as np

PROJECT = pathlib.Path(__file__).resolve().parent.parent


class CommandFailed(Exception):
    pass


def run(words, folder):
    """Runs a command, sees that it succeeds, and returns its standard output."""
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise CommandFailed(f"{shlex.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Folder:
    """A folder with files, the command at work in it, and the lines that were run there."""

    def __init__(self, path, headwater):
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.headwater, self.lines = path, headwater, []

    def __call__(self, *words):
        quiet = [] if words[0] == "show" else ["--quiet"]
        self.lines.append(shlex.join(map(str, ["headwater", *words])))
        return run([self.headwater, *words, *quiet], self.path)

    def load(self, name):
        return np.load(self.path / name)

    def save(self, name, array):
        np.save(self.path / name, array)

    def basis(self, model):
        return np.loadtxt(io.StringIO(self("show", model, "--basis")), delimiter=",", ndmin=2)

    def trace(self, model):
        """Name of a column -> how it went; `t` is the number of observations."""
        return np.genfromtxt(io.StringIO(self("show", model, "--trace")), delimiter=",", names=True)


class Workshop:
    def __init__(self, build, quick):
        self.build, self.quick = build.resolve(), quick
        self.headwater = self.build / "headwater"
        self.root = PROJECT / "build" / "reproduce" / ("quick" if quick else "full")
        self.docs = self.root if quick else PROJECT / "docs"
        self.figures = self.docs / "figures"
        self.sections = self.root / "sections"
        for folder in self.figures, self.sections:
            folder.mkdir(parents=True, exist_ok=True)

    def size(self, full, quick):
        return quick if self.quick else full

    def folder(self, name):
        return Folder(self.root / name, self.headwater)

    def bench(self, name, *arguments):
        """What a program of bench/ prints, and the line that runs it."""
        words = [f"bench_{name}", *map(str, arguments)]
        printed = run([self.build / "bench" / words[0], *words[1:]], self.root)
        return printed, "build/release/bench/" + " ".join(words)

    def map(self, function, values, jobs=2):
        """Two at a time: the work is done by programs of one thread each."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(function, values))

    def keep(self, name, text):
        """The page is put together from sections, so that one can be made again alone."""
        (self.sections / f"{name}.md").write_text(text)
