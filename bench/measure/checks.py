"""Checks that every peer computes the same results as headwater; otherwise its time means nothing.

The exact recursions must agree up to rounding. Particle methods must agree in the mean over seeds:
each number is compared by (difference of the means) / (its standard error), which is Student's t
with about 30 degrees of freedom. |t| > 8 has probability 6e-9. With about 180 comparisons there is
one false alarm in a million runs, or more if the numbers are far from normal.
"""

import sys

import numpy as np

from measure.ours import EXAMPLE_1, EXAMPLE_2, gamma_basis
from peers import numpy_algorithm1, numpy_exact, with_particles

LARGEST_T = 8
SEEDS = 16
NEVER = 10 ** 9
# The paper's M-step and step sizes, and the likelihood of the last iterate, as the peers have them.
AS_THE_PEERS = ["--basis-shape", 1, "--basis-rate", 0, "--basis-floor", 0,
                "--transition-weight", 0, "--step", "power:0.6", "--average", "none"]


def check_all(ours):
    """Prints a line for each check; ends the program if one fails."""
    basis = gamma_basis(8, 5)
    passed = [check_exact(ours, basis), check_likelihood(ours, basis), check_basis(ours, basis),
              *check_particles_package(ours, basis)]
    if not all(passed):
        sys.exit("a peer does not compute what we do: its times are not comparable")


def report(name, value, limit):
    met = value <= limit
    print(f"  {name:<66} {value:8.2g} (limit {limit:g}){'' if met else '  FAILED'}", flush=True)
    return met


def check_exact(ours, basis):
    """Compares with --smoother forward after 200 observations, 101 of them with an M-step."""
    stream = ours.stream(EXAMPLE_1, basis, 200)
    peer = numpy_exact.ExactOnlineEm(basis, 0.8571, 0.6926)
    for y in np.load(stream[0]).astype(float):
        peer.update(y)
    found, model = ours.fit(stream, EXAMPLE_1, "--smoother", "forward", *AS_THE_PEERS)
    difference = np.max(np.abs(peer.basis / found - 1))
    likelihood = abs(peer.log_likelihood / model["log_likelihood"] - 1)
    return report("exact recursion in NumPy: basis and likelihood, relative difference",
                  max(difference, likelihood), 1e-8)


def largest_t(ours, theirs):
    """The largest t of the differences between means over runs; one row per run."""
    ours, theirs = np.array(ours), np.array(theirs)
    error = np.sqrt(ours.var(axis=0, ddof=1) / len(ours) + theirs.var(axis=0, ddof=1) / len(theirs))
    return float(np.max(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / error))


def run_algorithm1(data, basis, seed, **options):
    peer = numpy_algorithm1.Algorithm1(basis, 0.95, 1000, seed=seed, **options)
    for y in data:
        peer.update(y)
    return peer


def check_likelihood(ours, basis):
    """Compares the filters with held parameters by the mean of their log-likelihood estimates."""
    stream = ours.stream(EXAMPLE_2, basis, 50)
    data = np.load(stream[0]).astype(float)
    theirs = [[run_algorithm1(data, basis, seed, burn_in=NEVER).log_likelihood]
              for seed in range(SEEDS)]
    held = ["--smoother", "path", "--hold", "basis", "--hold", "alpha"]
    found = [[ours.fit(stream, EXAMPLE_2, *held, "--seed", 100 + seed)[1]["log_likelihood"]]
             for seed in range(SEEDS)]
    return report("Algorithm 1 in NumPy: log-likelihood, standard errors apart",
                  largest_t(found, theirs), LARGEST_T)


def check_basis(ours, basis):
    """Compares the bases after one M-step at the end of 50 observations, before the paths have
    coalesced. With more M-steps the results would differ: the window and Algorithm 1 use different
    iterates of the basis for an observation."""
    length = 50
    stream = ours.stream(EXAMPLE_2, basis, length)
    data = np.load(stream[0]).astype(float)
    theirs = [run_algorithm1(data, basis, seed, burn_in=length).basis.ravel()
              for seed in range(SEEDS)]
    options = ["--smoother", "path", "--block", 1, "--burn-in", length, *AS_THE_PEERS]
    found = [ours.fit(stream, EXAMPLE_2, *options, "--seed", 100 + seed)[0].ravel()
             for seed in range(SEEDS)]
    return report("Algorithm 1 in NumPy: basis, standard errors apart", largest_t(found, theirs),
                  LARGEST_T)


def check_particles_package(ours, basis):
    """Compares the smoothed sums of the package with Algorithm 1 in NumPy, whose statistics with
    gamma_t = 1/t are the means of these sums."""
    length = 20
    data = np.load(ours.stream(EXAMPLE_2, basis, 50)[0])[:length].astype(float)
    truth = [run_algorithm1(data, basis, seed, exponent=1, burn_in=NEVER).statistics()
             for seed in range(SEEDS)]
    for name, make in (("naive", with_particles.naive), ("O(N^2)", with_particles.square),
                       ("PaRIS", with_particles.paris)):
        sums = [run_particles(make(), data, basis, seed) / length for seed in range(SEEDS)]
        yield report(f"particles, {name}: statistics, standard errors apart",
                     largest_t(truth, sums), LARGEST_T)


def run_particles(collector, data, basis, seed):
    np.random.seed(seed)
    steps = with_particles.filter_with(collector, basis, 0.95, data, num_particles=200)
    for _ in range(len(data)):
        next(steps)
    return with_particles.smoothed(steps, collector)
