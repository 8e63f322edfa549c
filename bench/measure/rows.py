"""The rows of the table: headwater against its peers and against itself."""

import functools

import numpy as np

from measure.compare import Repeated, compare
from measure.ours import EXAMPLE_1, EXAMPLE_2, GUIDED, STEADY_BLOCK, gamma_basis
from peers import numpy_algorithm1, numpy_exact, with_particles, with_sklearn

STAY_OFF, STAY_ON, ALPHA = 0.8571, 0.6926, 0.95
EVERY_64 = "M-step every 64"

NOTES = """\
Our steps are those of the command, M-step included; every 64 observations is its default. `path` is
Algorithm 1, `lag` (5 later observations) the default, `paris` looks 50 observations ahead, `forward`
20. Our steps are those of --average none: no peer has a second filter that predicts by the average. A
row says what this costs once it has been tried. NumPy's steps have an M-step at every observation. Those of `particles` have none, and its
PaRIS draws from all N weights at once, since for this chain its tries at rejection are in vain.
Every filter resamples systematically when the effective size is below N / 2."""


class Rows:
    """options: rounds, seconds (of our side in a round), quick, only (a part of the names of the
    rows that are wanted)."""

    def __init__(self, ours, table, options):
        self.ours, self.table = ours, table
        self.rounds, self.seconds, self.quick = options.rounds, options.seconds, options.quick
        self.only = options.only
        self.basis = gamma_basis(8, 5)

    def scaled(self, count):
        """The number of steps of a peer in a round."""
        return max(1, count // 10) if self.quick else count

    def our_side(self, stream, model, clock="processor_us", **options):
        return self.side_of(self.ours, stream, model, clock, options)

    def side_of(self, ours, stream, model, clock, options):
        options = {"block": STEADY_BLOCK, "seconds": self.seconds, "average": "none", **options}
        return lambda: ours.step(stream, model, **options)[clock]

    def compare(self, work, ours, theirs, target=None):
        if self.only in work:
            self.table.add(work, compare(ours, theirs, self.rounds), target)

    def all(self):
        self.algorithm1()
        self.square_and_paris()
        self.exact()
        self.factorisation()
        self.large_exact()
        self.large_particles()
        self.large_memory()
        self.threads()
        self.sparse()

    @functools.cached_property
    def relaxed(self):
        return self.ours.stream(EXAMPLE_2, self.basis, 4000)

    @functools.cached_property
    def relaxed_data(self):
        return np.load(self.relaxed[0]).astype(float)

    def package(self, collector, particles, count):
        """A smoother of package `particles` as one side. It stops at the end of its data, which are
        long enough for ten rows."""
        count = self.scaled(count)
        repeats = 1 + 10 * self.rounds * count // len(self.relaxed_data)
        data = np.tile(self.relaxed_data, (repeats, 1))
        steps = with_particles.filter_with(collector, self.basis, ALPHA, data, particles)
        return Repeated(lambda _: next(steps), data, count, warm=min(20, 2 * count))

    def algorithm1(self):
        numpy = Repeated(numpy_algorithm1.Algorithm1(self.basis, ALPHA, 1000).update,
                         self.relaxed_data, self.scaled(500), warm=120)
        naive = self.package(with_particles.naive(), 1000, 250)
        for smoother, block, step, targets in (
                ("path", STEADY_BLOCK, f"Algorithm 1 step (path), {EVERY_64}", (18, 40)),
                ("path", 1, "Algorithm 1 step (path), M-step every observation", (6, None)),
                ("lag", STEADY_BLOCK, f"default step (lag), {EVERY_64}", (None, None)),
                ("lag", 1, "default step (lag), M-step every observation", (None, None))):
            ours = self.our_side(self.relaxed, EXAMPLE_2, smoother=smoother, block=block)
            self.compare(f"{step}; NumPy's Algorithm 1", ours, numpy, targets[0])
            self.compare(f"{step}; particles, naive", ours, naive, targets[1])

        with_average = self.our_side(self.relaxed, EXAMPLE_2, average="auto", warm=2000)
        without = self.our_side(self.relaxed, EXAMPLE_2, warm=2000)
        self.compare("default step (lag) after 2,000 observations; --average none", with_average,
                     without, 0.9)

    def square_and_paris(self):
        forward = self.our_side(self.relaxed, EXAMPLE_2, smoother="forward", particles=300)
        self.compare(f"forward, N = 300, {EVERY_64}; particles, O(N^2)", forward,
                     self.package(with_particles.square(), 300, 10), 70)
        paris = self.our_side(self.relaxed, EXAMPLE_2, smoother="paris")
        self.compare(f"paris, {EVERY_64}; particles, PaRIS", paris,
                     self.package(with_particles.paris(), 1000, 3), 100)

    @functools.cached_property
    def selection(self):
        return self.ours.stream(EXAMPLE_1, self.basis, 4000)

    def exact(self):
        data = np.load(self.selection[0]).astype(float)
        numpy = Repeated(numpy_exact.ExactOnlineEm(self.basis, STAY_OFF, STAY_ON).update, data,
                         self.scaled(3000), warm=120)
        window = self.our_side(self.selection, EXAMPLE_1)
        forward = self.our_side(self.selection, EXAMPLE_1, smoother="forward")
        self.compare(f"exact step, {EVERY_64}; NumPy's forward recursion", window, numpy, 60)
        self.compare("exact step (forward), M-step every observation; the same", forward, numpy)

    def factorisation(self):
        """Cost per observation, for any batch size."""
        data = np.load(self.selection[0]).astype(float)
        window = self.our_side(self.selection, EXAMPLE_1)
        for size, count in (1, 500), (1000, 10):
            batches = [data[i:i + size] for i in range(0, len(data), size)]
            batch = Repeated(with_sklearn.Factorisation(5).update, batches, self.scaled(count),
                             warm=2)
            self.compare(f"exact step; MiniBatchNMF, batches of {size:,}", window,
                         lambda: batch() / size)

    def large_exact(self):
        components, channels = (6, 100) if self.quick else (10, 1000)
        stream = self.ours.stream(EXAMPLE_1, gamma_basis(channels, components), 300)
        window = self.our_side(stream, EXAMPLE_1, warm=128)
        forward = self.our_side(stream, EXAMPLE_1, smoother="forward", warm=2, steps=3)
        self.compare(f"exact, K = {components}, M = {channels}: adjoint; our forward recursion",
                     window, forward, 15)

    @functools.cached_property
    def large(self):
        """A stream of large tables, N M K numbers (200 MB), and its name."""
        components, channels = (10, 100) if self.quick else (50, 1000)
        stream = self.ours.stream(EXAMPLE_2, gamma_basis(channels, components), 300)
        return stream, f"Algorithm 1, K = {components}, M = {channels}, N = 500"

    # Algorithm 1 does not look at the observation before it moves, as 'auto' would with so many counts.
    LARGE_PATH = dict(smoother="path", proposal="prior", particles=500, block=STEADY_BLOCK,
                      warm=192)
    LARGE_AS_PRINTED = dict(paper_exact=1, particles=500, warm=3, steps=3)

    def large_particles(self):
        stream, work = self.large
        path = self.our_side(stream, EXAMPLE_2, **self.LARGE_PATH)
        printed = self.our_side(stream, EXAMPLE_2, **self.LARGE_AS_PRINTED)
        self.compare(f"{work}: path; --paper-exact", path, printed, 20)

    def large_memory(self):
        stream, work = self.large
        if self.only not in f"{work}: memory":
            return
        printed = self.ours.step(stream, EXAMPLE_2, **self.LARGE_AS_PRINTED)
        path = self.ours.step(stream, EXAMPLE_2, **self.LARGE_PATH)
        self.table.add_at_most(
            f"{work}: memory (--paper-exact: {printed['peak_megabytes']:.0f} MB)",
            path["peak_megabytes"], "MB", 50, name=f"{work}: memory")

    def threads(self):
        sizes = [(2000, None)] if self.quick else [(4000, 1.5), (20000, 1.6)]
        for particles, target in sizes:
            for smoother in "lag", "path":
                self.on_two_threads(f"{smoother}, N = {particles:,}", self.relaxed, EXAMPLE_2,
                                    target, smoother=smoother, particles=particles, warm=64)
        components, channels = (5, 50) if self.quick else (20, 200)
        guided = self.ours.stream(GUIDED, gamma_basis(channels, components), 300)
        self.on_two_threads(f"guided, K = {components}, M = {channels}", guided, GUIDED, 1.7,
                            warm=8, steps=8)
        self.search_on_two_threads()

    def on_two_threads(self, work, stream, model, target, **options):
        one, two = (self.our_side(stream, model, clock="wall_us", threads=threads, **options)
                    for threads in (1, 2))
        self.compare(f"2 threads against 1, {work}, wall time", two, one, target)

    def search_on_two_threads(self):
        """A fit of no more observations than the search for its start looks at."""
        components, channels = (4, 20) if self.quick else (8, 30)
        counts, _ = self.ours.stream(EXAMPLE_1, gamma_basis(channels, components), 1000)
        one, two = (lambda threads=threads: self.ours.search_seconds(counts, components, threads)
                    for threads in (1, 2))
        self.compare(f"2 threads against 1, start search, K = {components}, M = {channels}, "
                     "wall time", two, one, 1.7)

    def sparse(self):
        channels = 1000 if self.quick else 10000
        sides = [self.our_side(stream_with_nonzeros(self.ours, channels, 20, part), EXAMPLE_2,
                               proposal="prior", particles=500, warm=64)
                 for part in (0.01, 1)]
        self.compare(f"sparse: M = {channels:,}, K = 20, N = 500, 1 % nonzeros; all nonzero",
                     *sides, 10)


def stream_with_nonzeros(ours, channels, components, part, length=256):
    """A stream in which the fraction `part` of the cells is nonzero. The basis is scaled so that
    the model gives this fraction; for part = 1, the few zeros are replaced by ones."""
    basis = gamma_basis(channels, components)
    activation = 0.5  # the mean of relaxed-selection
    if part < 1:
        basis *= -np.log1p(-part) / (activation * basis.sum(axis=1).mean())
    files = ours.stream(EXAMPLE_2, basis, length)
    if part == 1:
        np.save(files[0], np.maximum(np.load(files[0]), 1))
    return files


