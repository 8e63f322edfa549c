"""Inference for finite hidden Markov models with Poisson observations, by the plain formulas.

No code is shared with the command: every state is enumerated and every matrix is dense. Rows are
times, as in the files: observations are T x M, distributions T x n, and NaN marks a missing cell.
"""

import itertools
import math
from collections import namedtuple

import numpy as np

# states: n x K activations; transition: n x n, from row to column; initial: distribution of x_1.
Chain = namedtuple("Chain", "states transition initial")
# The distribution of the state before and after each observation, and log p(y_t | y_1..t-1).
Filtered = namedtuple("Filtered", "before after log_predictive")
Parameters = namedtuple("Parameters", "basis stay_off stay_on")


def selection_chain(num_components, stay_off, stay_on):
    """Components that are off or on. stay_off, stay_on: shared, or one for each component."""
    off = np.broadcast_to(np.asarray(stay_off, dtype=float), num_components)
    on = np.broadcast_to(np.asarray(stay_on, dtype=float), num_components)
    states = np.array(list(itertools.product([0, 1], repeat=num_components)))
    transition, initial = np.ones((1, 1)), np.ones(1)
    for p, q in zip(off, on):
        transition = np.kron(transition, [[p, 1 - p], [1 - q, q]])
        initial = np.kron(initial, np.array([1 - q, 1 - p]) / (2 - p - q))
    return Chain(states, transition, initial)


def general_chain(states, transition):
    """Starts in its stationary distribution: pi P = pi, with one equation replaced by sum(pi) =
    1."""
    equations = np.transpose(transition) - np.eye(len(transition))
    equations[-1] = 1
    stationary = np.linalg.solve(equations, np.eye(len(transition))[-1])
    return Chain(np.asarray(states, dtype=float), np.asarray(transition), stationary)


def simulate(chain, basis, length, seed):
    random = np.random.default_rng(seed)
    state = random.choice(len(chain.initial), p=chain.initial)
    cumulated = np.cumsum(chain.transition, axis=1)
    visited = np.empty(length, dtype=int)
    for t, uniform in enumerate(random.random(length)):
        visited[t] = state
        state = min(np.searchsorted(cumulated[state], uniform), len(chain.initial) - 1)
    return random.poisson(chain.states[visited] @ basis.T).astype(float)


def poisson_log_likelihoods(y, basis, states, background=0):
    """log g(y_t | x), T x n; a missing cell contributes nothing, 0 log 0 = 0, and log 0 = -inf."""
    rates = states @ basis.T + background
    with np.errstate(divide="ignore"):
        log_rates = np.log(rates)
    table = np.zeros((len(y), len(states)))
    for t, row in enumerate(y):
        for m in np.flatnonzero(~np.isnan(row)):
            table[t] += -rates[:, m] - math.lgamma(row[m] + 1)
            if row[m] > 0:
                table[t] += row[m] * log_rates[:, m]
    return table


def run_filter(log_likelihoods, chain):
    before = np.empty_like(log_likelihoods)
    after = np.empty_like(log_likelihoods)
    log_predictive = np.empty(len(log_likelihoods))
    law = chain.initial
    for t, log_g in enumerate(log_likelihoods):
        before[t] = law
        largest = log_g.max()
        joint = law * np.exp(log_g - largest)
        log_predictive[t] = largest + math.log(joint.sum())
        after[t] = joint / joint.sum()
        law = after[t] @ chain.transition
    return Filtered(before, after, log_predictive)


def backward_kernel(chain, filtered, t):
    """p(x_t-1 | x_t, y_1..t-1), row x_t-1 and column x_t."""
    joint = filtered.after[t - 1][:, None] * chain.transition
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(joint / joint.sum(axis=0))


def smooth(chain, filtered):
    """The distribution of each state given all observations, and the expected transition counts."""
    laws = filtered.after.copy()
    moves = np.zeros_like(chain.transition)
    for t in range(len(laws) - 1, 0, -1):
        pairs = backward_kernel(chain, filtered, t) * laws[t]
        moves += pairs
        laws[t - 1] = pairs.sum(axis=1)
    return laws, moves


def log_likelihood(y, parameters):
    chain = selection_chain(parameters.basis.shape[1], parameters.stay_off, parameters.stay_on)
    table = poisson_log_likelihoods(y, parameters.basis, chain.states)
    return run_filter(table, chain).log_predictive.sum()


def batch_em_step(y, parameters):
    """One iteration of EM. An entry of the basis is a ratio of sums over the times at which its
    channel was observed. The M-step ignores the distribution of the first state."""
    basis = parameters.basis
    chain = selection_chain(basis.shape[1], parameters.stay_off, parameters.stay_on)
    filtered = run_filter(poisson_log_likelihoods(y, basis, chain.states), chain)
    laws, moves = smooth(chain, filtered)
    exposure = (~np.isnan(y)).T.astype(float) @ (laws @ chain.states)
    counts = expected_counts(np.nan_to_num(y), basis, laws, chain.states)
    stay_off, stay_on = stay_probabilities(moves, chain.states)
    return Parameters(counts / exposure, stay_off, stay_on)


def expected_counts(y, basis, laws, states):
    """Sum over time of E[z_t], M x K."""
    rates = states @ basis.T
    inverse = np.divide(1, rates, out=np.zeros_like(rates), where=rates > 0)
    return basis * ((y.T @ laws) * inverse.T @ states)


def stay_probabilities(moves, states):
    both_off = (1 - states) @ (1 - states).T
    both_on = states @ states.T
    leaves = moves.sum(axis=1)
    return ((moves * both_off).sum() / (leaves @ (1 - states)).sum(),
            (moves * both_on).sum() / (leaves @ states).sum())


def sum_over_paths(log_likelihoods, chain):
    """Filtering and smoothing distributions and log p(y_1..t), by summation over all paths."""
    length, size = log_likelihoods.shape
    paths = np.array(list(itertools.product(range(size), repeat=length)))
    with np.errstate(divide="ignore"):
        weights = np.log(chain.initial)[paths[:, 0]] + log_likelihoods[0][paths[:, 0]]
        log_transition = np.log(chain.transition)
    filtered, totals = [], []
    for t in range(length):
        if t > 0:
            weights = weights + log_transition[paths[:, t - 1], paths[:, t]]
            weights = weights + log_likelihoods[t][paths[:, t]]
        filtered.append(law_at(paths, weights, t, size))
        # Each prefix of a path occurs once for every continuation.
        totals.append(log_sum(weights) - (length - 1 - t) * math.log(size))
    smoothed = [law_at(paths, weights, t, size) for t in range(length)]
    return np.array(filtered), np.array(smoothed), np.array(totals)


def law_at(paths, weights, t, size):
    mass = np.bincount(paths[:, t], weights=np.exp(weights - weights.max()), minlength=size)
    return mass / mass.sum()


def log_sum(weights):
    return weights.max() + math.log(np.exp(weights - weights.max()).sum())
