"""Maximum likelihood for finite hidden Markov models with negative binomial counts, by plain
formulas.

No code is shared with the command, and the dispersion is not found as the command finds it: given
the posterior probabilities of the states, the expected log-likelihood is maximised by bisection of
its derivative. Rows are times; NaN marks a missing cell.
"""

import math

import numpy as np

from hidden_markov import run_filter, smooth


def log_likelihoods(y, basis, states, dispersion):
    """log g(y_t | x), T x n, for a dispersion above 0 (a number, or one for each channel)."""
    size = 1 / np.broadcast_to(np.asarray(dispersion, dtype=float), len(basis))
    means = states @ basis.T
    table = np.zeros((len(y), len(states)))
    for t, row in enumerate(y):
        for m in np.flatnonzero(~np.isnan(row)):
            r, count = size[m], row[m]
            table[t] += math.lgamma(count + r) - math.lgamma(r) - math.lgamma(count + 1)
            table[t] -= (count + r) * np.log(means[:, m] + r) - r * math.log(r)
            with np.errstate(divide="ignore"):
                table[t] += count * np.log(means[:, m]) if count > 0 else 0
    return table


def posterior(y, basis, chain, dispersion):
    """The log-likelihood of the record, and the distribution of each state given all of it."""
    filtered = run_filter(log_likelihoods(y, basis, chain.states, dispersion), chain)
    return filtered.log_predictive.sum(), smooth(chain, filtered)[0]


def basis_step(y, basis, chain, laws, dispersion):
    """EM's step, with the gamma variables as missing data too: counts over E[epsilon x]."""
    means = chain.states @ basis.T
    counts, exposures = np.zeros_like(basis), np.zeros_like(basis)
    for row, law in zip(y, laws):
        for m in np.flatnonzero(~np.isnan(row)):
            on = means[:, m] > 0
            shares = np.where(on, law, 0) * row[m] / np.where(on, means[:, m], 1)
            counts[m] += basis[m] * (shares @ chain.states)
            level = (1 + dispersion * row[m]) / (1 + dispersion * means[:, m])
            exposures[m] += (law * level) @ chain.states
    return counts / exposures


def dispersion_slope(y, weights, means, dispersion):
    """Derivative in the dispersion of the expected log-likelihood; cells in rows, states in
    columns."""
    z = dispersion * means
    of_counts = sum(np.where(y > j, j / (1 + j * dispersion), 0).sum()
                    for j in range(1, int(y.max()) + 1))
    of_means = (np.log1p(z) - z / (1 + z)) / dispersion**2 - y[:, None] * means / (1 + z)
    return of_counts + (weights * of_means).sum()


def best_dispersion(y, basis, chain, laws):
    """One for all channels."""
    times, channels = np.nonzero(~np.isnan(y))
    cells = y[times, channels], laws[times], (chain.states @ basis.T).T[channels]
    low, high = math.log(1e-6), math.log(1e3)
    while high - low > 1e-13:
        middle = (low + high) / 2
        if dispersion_slope(*cells, math.exp(middle)) > 0:
            low = middle
        else:
            high = middle
    return math.exp(low)


def fit(y, basis, chain, dispersion, iterations):
    """The basis, the dispersion and the log-likelihood before each iteration. The chain is held."""
    climbed = []
    for _ in range(iterations):
        log_likelihood, laws = posterior(y, basis, chain, dispersion)
        climbed.append(log_likelihood)
        basis = basis_step(y, basis, chain, laws, dispersion)
        _, laws = posterior(y, basis, chain, dispersion)
        dispersion = best_dispersion(y, basis, chain, laws)
    return basis, dispersion, climbed
