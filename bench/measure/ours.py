"""Headwater's side of the comparison: streams from the command, steps timed by bench_step_times."""

import io
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

# The number of observations between two M-steps that the default schedule reaches at observation
# 2,048. Benchmarks set it from the start, so that they need not wait for it.
STEADY_BLOCK = 64

EXAMPLE_1 = {"prior": "basis-selection", "set.stay_off": 0.8571, "set.stay_on": 0.6926}
EXAMPLE_2 = {"prior": "relaxed-selection", "set.alpha": 0.95}
GUIDED = {"prior": "gamma"}  # whose particles look ahead


def gamma_basis(channels, components, scale=10, seed=1):
    """A basis with Gamma(1) entries times the scale."""
    return scale * np.random.default_rng(seed).standard_exponential((channels, components))


class Ours:
    """The programs of a build folder, and a folder for the benchmark streams. unknown: options of
    bench_step_times that an older version does not have, nor what they switch off."""

    def __init__(self, build, folder, unknown=()):
        self.build, self.folder, self.unknown = pathlib.Path(build), pathlib.Path(folder), unknown
        self.streams = {}

    def run(self, program, *words):
        done = subprocess.run([str(self.build / program), *map(str, words)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program}: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def stream(self, model, basis, length, seed=1):
        """The files of a simulated stream and its basis. model: EXAMPLE_1 or EXAMPLE_2."""
        key = (model["prior"], basis.tobytes(), length, seed)
        if key not in self.streams:
            stem = self.folder / str(len(self.streams))
            files = f"{stem}_counts.npy", f"{stem}_basis.npy"
            np.save(files[1], basis)
            words = ["simulate", "--prior", model["prior"], "--basis", files[1], "--length", length,
                     "--seed", seed, "--out", files[0], "--quiet"]
            for name, value in parameters(model).items():
                words += ["--set", f"{name}={value}"]
            self.run("headwater", *words)
            self.streams[key] = files
        return self.streams[key]

    def step(self, stream, model, **options):
        """The report of bench_step_times for one case. '_' in option names stands for '-'."""
        options = {name: value for name, value in options.items() if name not in self.unknown}
        words = [f"{name.replace('_', '-')}={value}" for name, value in options.items()]
        words += [f"{name}={value}" for name, value in model.items()]
        return json.loads(self.run("bench/bench_step_times", *stream, *words))

    def fit(self, stream, model, *options):
        """Fits a stream with the command, starting at the truth. Returns the last iterate's basis
        and a description of the model."""
        file = self.folder / "model.h5"
        words = ["fit", stream[0], "--init", stream[1], "--prior", model["prior"], "--out", file,
                 "--components", np.load(stream[1]).shape[1], "--quiet"]
        for name, value in parameters(model).items():
            words += ["--set", f"{name}={value}"]
        self.run("headwater", *words, *options)
        basis = np.loadtxt(io.StringIO(self.run("headwater", "show", file, "--basis", "--last")),
                           delimiter=",", ndmin=2)
        return basis, json.loads(self.run("headwater", "show", file, "--json"))

    def search_seconds(self, counts, components, threads):
        """The wall time of a fit, which is that of its search if there is nothing more to fit."""
        began = time.perf_counter()
        self.run("headwater", "fit", counts, "--prior", "basis-selection", "--components",
                 components, "--threads", threads, "--out", self.folder / "searched.h5", "--quiet")
        return time.perf_counter() - began

    def peaks(self):
        return json.loads(self.run("bench/bench_machine_peaks"))


def parameters(model):
    return {name[len("set."):]: value for name, value in model.items() if name.startswith("set.")}
