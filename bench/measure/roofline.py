"""The time of each main loop, and of the whole step, divided by a lower bound.

The bound of a loop is the larger of (operations / the machine's measured peak) and (bytes that it
must read and write / the measured rate of the second-level cache, which holds a step's particles).
The peak is that of multiply-adds, two operations each, in the widest vectors, on one thread.

Operations are those that the algorithm needs, not those that our code executes:

  additions, multiplications, comparisons, selections, 64 bits of logic     1 each
  multiplication of integers, which has half the throughput                 2
  division: an estimate and two Newton steps                                8
  logarithm: 7 terms of a polynomial, a division, 9 more                   31
  exponential: 12 terms of a polynomial, 8 more                            32
  random word: a quarter of a Philox block (20 multiplications, 40 XORs
  of 32 bits)                                                              15

Not counted: addresses, loop overhead, conversions between layouts, copies that renaming a buffer
would save, and the M-step, which occurs once in 64 observations.
"""

import json
from collections import namedtuple

import numpy as np

from measure.ours import EXAMPLE_2, STEADY_BLOCK, gamma_basis

DIVISION, LOGARITHM, EXPONENTIAL, RANDOM_WORD = 8, 31, 32, 15
DOUBLE, INDEX = 8, 4  # bytes
LARGEST_RATIO = 2.2

# The sizes that the operation counts depend on. N: particles; K: components; positive: channels
# with counts; bits: mean log2 of those counts, the multiplications of a power; resampled: fraction
# of steps that resample; alive: particles in the statistics.
Sizes = namedtuple("Sizes", "N K positive bits resampled alive")

# per_step: runs of the loop per step; kernel: its name in bench_kernels, if it has one.
Loop = namedtuple("Loop", "operations bytes per_step kernel")


def step_loops(s):
    """The loops of one step of a particle filter with genealogies."""
    places = s.N * s.K
    return {
        # Cumulate, compare, count.
        "resampling": Loop(3 * s.N, s.N * (DOUBLE + INDEX), s.resampled, "resampling/1000"),
        # Every particle is replaced by its ancestor.
        "gather": Loop(0, 2 * places * DOUBLE + s.N * INDEX, s.resampled, None),
        # One uniform number (two words and three operations) decides the direction and the
        # distance; ten operations for the two directions.
        "moves": Loop(places * (2 * RANDOM_WORD + 3 + 10), 2 * places * DOUBLE, 1, "moves/1000"),
        # The distance to the edge, or one minus it.
        "activations": Loop(2 * places, 2 * places * DOUBLE, 1, "activations/1000"),
        # An intensity and its power for each channel, the logarithm of the product, and c'x.
        "likelihood": Loop(s.N * (s.positive * (2 * s.K + s.bits) + LOGARITHM + 2 * s.K),
                           (places + s.N) * DOUBLE, 1, "likelihood/1000"),
        # Maximum, exponential, sum, factor, logarithm, square and its sum.
        "normalise": Loop(s.N * (EXPONENTIAL + 7), 3 * s.N * DOUBLE, 1, "normalise/1000"),
        # s1; for each channel an intensity, a division and its contribution to K sums; the moves.
        f"statistics, {s.alive:.0f} alive": Loop(
            s.alive * (2 * s.K + s.positive * (4 * s.K + DIVISION + 1) + 3 * s.K),
            s.alive * s.K * DOUBLE, 1, f"statistics/{s.alive:.0f}"),
    }


def other_loops(s):
    """The loops of the smoothers forward and paris, and of the exact engine with 10 components."""
    states, components = 2 ** 10, 10
    push = 2.5 * components * states  # butterfly: 5 operations for two states and a component
    return {
        # For each component: whether it moved towards its edge (3), one of two factors, a product.
        "log_transition, all to one": Loop(5 * s.N * s.K, (2 * s.N * s.K + s.N) * DOUBLE, 1,
                                           "log_transition/1000"),
        "push, K = 10": Loop(push, 2 * states * DOUBLE, 1, "push/10"),
        # Push, stored logarithms times counts, exponential, ratio, filtering distribution,
        # normaliser.
        "exact filter, K = 10": Loop(
            push + states * (2 * s.positive + EXPONENTIAL + 6),
            states * (s.positive + 4) * DOUBLE, 1, "exact_filter_step/10"),
    }


def bound_us(loop, peaks):
    return 1e6 * max(loop.operations / peaks["flops"], loop.bytes / peaks["level2"])


class Steps:
    """The steps of smoothers `path` and `lag` at N = 1000, and their loops."""

    def __init__(self, ours, options):
        self.ours, self.options = ours, options
        self.stream = ours.stream(EXAMPLE_2, gamma_basis(8, 5), 4000)
        self.peaks = ours.peaks()
        self.kernels = kernel_times(ours, options.quick)
        self.counted = ours.step(self.stream, EXAMPLE_2, block=STEADY_BLOCK, lineages=64,
                                 average="none")

    def sizes(self, alive):
        likelihood = self.kernels["likelihood/1000"]
        return Sizes(N=1000, K=5, positive=likelihood["positive"], bits=likelihood["bits"],
                     resampled=self.counted["resampled"], alive=alive)

    def add_to(self, table):
        """In `lag` an observation enters the statistics after 5 later ones, in `path` after 0 to
        63."""
        alive = self.counted["alive"]
        for smoother, in_statistics in ("path", np.mean(alive)), ("lag", alive[5]):
            loops = step_loops(self.sizes(in_statistics)).values()
            bound = sum(loop.per_step * bound_us(loop, self.peaks) for loop in loops)
            time = self.time(smoother)
            table.add_at_most(f"{smoother}: {time:.3g} us over its bound, {bound:.3g} us",
                              time / bound, "", LARGEST_RATIO, name=f"{smoother} over its bound")

    def time(self, smoother):
        return np.median([self.ours.step(self.stream, EXAMPLE_2, smoother=smoother,
                                         block=STEADY_BLOCK, seconds=self.options.seconds,
                                         average="none")
                          ["processor_us"] for _ in range(self.options.rounds)])

    def show_loops(self):
        rate = {name: f"{value / 1e9:.3g}" for name, value in self.peaks.items()}
        print(f"\nMain loops against their bounds at {rate['flops']} Gflop/s and {rate['level2']} "
              f"GB/s (from memory it would be {rate['memory']} GB/s)\n")
        print(f"{'loop':<28}{'operations':>11} {'bytes':>9} {'bound us':>9} {'time us':>9}"
              f"{'ratio':>8}")
        sizes = self.sizes(alive=200)
        for name, loop in {**step_loops(sizes), **other_loops(sizes)}.items():
            bound = bound_us(loop, self.peaks)
            print(f"{name:<28}{loop.operations:>11,.0f} {loop.bytes:>9,.0f} {bound:>9.3g} "
                  f"{self.measured(loop, bound)}", flush=True)

    def measured(self, loop, bound):
        if loop.kernel is None:
            return " part of the filter's moves"
        time = self.kernels[loop.kernel]["cpu_time"] / 1000
        return f"{time:9.3g}{time / bound:8.2f}"


def kernel_times(ours, quick):
    """The results of bench_kernels by name; cpu_time is in nanoseconds."""
    least = 0.01 if quick else 0.2
    text = ours.run("bench/bench_kernels", "--benchmark_format=json",
                    f"--benchmark_min_time={least}", "--benchmark_filter=/(10|200|1000)$")
    return {entry["name"]: entry for entry in json.loads(text)["benchmarks"]}
