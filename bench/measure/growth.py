"""How headwater's cost grows with each size: times, and the slope of their logarithms."""

import numpy as np

from measure.compare import plain
from measure.ours import EXAMPLE_1, EXAMPLE_2, STEADY_BLOCK, gamma_basis
from measure.rows import stream_with_nonzeros


def show(ours, options):
    print("\nHow the cost of a step grows: microseconds, and the slope of log time on log size\n")
    Growth(ours, options).all()


def slope(sizes, times):
    return np.polyfit(np.log(sizes), np.log(times), 1)[0]


class Growth:
    def __init__(self, ours, options):
        self.ours, self.quick = ours, options.quick
        self.options = {"block": STEADY_BLOCK, "seconds": options.seconds}

    def all(self):
        particles = self.sizes(250, 500, 1000, 2000, 4000, 8000, 16000)
        for smoother in "lag", "path":
            self.line(f"N, {smoother}", particles, self.with_particles, smoother=smoother)
        self.line("K, lag", self.sizes(2, 4, 8, 16, 32), self.with_components)
        self.line("2^K, exact, K = 4..12", self.sizes(*(2 ** k for k in range(4, 13))),
                  self.with_states)
        self.line("M, lag", self.sizes(8, 32, 128, 512, 2048), self.with_channels)
        self.line("M, exact", self.sizes(8, 32, 128, 512, 2048), self.with_channels,
                  model=EXAMPLE_1)
        self.nonzeros()
        self.line("T, all steps, lag", self.sizes(1000, 10000, 100000), self.with_length,
                  particles=250)
        self.line("T, all steps, path", self.sizes(1000, 10000, 100000), self.with_length,
                  particles=250, smoother="path")

    def sizes(self, *all_sizes):
        return all_sizes[:2] if self.quick else all_sizes

    def line(self, name, sizes, time, **options):
        self.print(name, sizes, [time(size, **options) for size in sizes])

    def print(self, name, sizes, times):
        points = "  ".join(f"{plain(size, 3)}: {plain(time)}" for size, time in zip(sizes, times))
        print(f"{name:<24} slope {slope(sizes, times):5.2f}   {points}", flush=True)

    def time(self, stream, model, **options):
        return self.ours.step(stream, model, **{**self.options, **options})["processor_us"]

    def with_particles(self, particles, smoother):
        stream = self.ours.stream(EXAMPLE_2, gamma_basis(8, 5), 1000)
        return self.time(stream, EXAMPLE_2, particles=particles, smoother=smoother)

    def with_components(self, components):
        stream = self.ours.stream(EXAMPLE_2, gamma_basis(8, components), 1000)
        return self.time(stream, EXAMPLE_2)

    def with_states(self, states):
        stream = self.ours.stream(EXAMPLE_1, gamma_basis(8, states.bit_length() - 1), 1000)
        return self.time(stream, EXAMPLE_1)

    def with_channels(self, channels, model=EXAMPLE_2):
        stream = self.ours.stream(model, gamma_basis(channels, 5), 512)
        return self.time(stream, model)

    def nonzeros(self):
        """The number of nonzero cells is measured; there are 10,000 channels."""
        channels = 1000 if self.quick else 10000
        streams = [stream_with_nonzeros(self.ours, channels, 20, part)
                   for part in self.sizes(0.001, 0.01, 0.1, 1)]
        counts = [np.count_nonzero(np.load(stream[0]), axis=1).mean() for stream in streams]
        self.print(f"nonzeros, M = {channels:,}", counts,
                   [self.time(stream, EXAMPLE_2, particles=500, warm=64) for stream in streams])

    def with_length(self, length, **options):
        """Microseconds for all steps together, including the first ones."""
        stream = self.ours.stream(EXAMPLE_2, gamma_basis(8, 5), 10000)
        each = self.time(stream, EXAMPLE_2, warm=0, steps=length, seconds=0, **options)
        return each * length
