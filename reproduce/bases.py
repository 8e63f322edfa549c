"""Bases that were found beside those that were looked for."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def order(found, truth):
    """Column of `found` that stands for each column of `truth`: the least squared distance."""
    cost = ((found[:, :, None] - truth[:, None, :]) ** 2).sum(axis=0)
    rows, columns = linear_sum_assignment(cost)
    return rows[np.argsort(columns)]


def root_mean_square_error(found, truth):
    return np.sqrt(np.mean((found[:, order(found, truth)] - truth) ** 2))


def relative_error(found, truth):
    return np.linalg.norm(found[:, order(found, truth)] - truth) / np.linalg.norm(truth)


def of_trace(trace, channels, components):
    """R x M x K: the basis at every row of a trace."""
    names = [f"basis_{m}_{k}" for m in range(1, channels + 1) for k in range(1, components + 1)]
    return np.stack([trace[name] for name in names], 1).reshape(-1, channels, components)


def matched_trace(trace, truth):
    """The same, columns in the order of the truth, as the last row has it."""
    bases = of_trace(trace, *truth.shape)
    return bases[:, :, order(bases[-1], truth)]


def near(truth, seed):
    """A start that is off by half or double: the truth times exp(.5 normal)."""
    return truth * np.exp(0.5 * np.random.default_rng(seed).standard_normal(truth.shape))
