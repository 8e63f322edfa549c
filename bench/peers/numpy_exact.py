"""Exact online EM for basis selection in vectorised NumPy: the forward recursion on all 2^K states.

Written to be fast at K = 5, where the overhead of a call weighs as much as its arithmetic: the
dense transition matrix (one product moves all statistics of all states), states along the last
axis, and as few calls as there can be. u(x) = p(x_t = x | y_1..t) T_t(x) is carried instead of T,
so that nothing is divided by the predicted law.
"""

import itertools
import math

import numpy as np


class ExactOnlineEm:
    """update(y) is one step: filter, statistics, and an M-step for the basis, p and q."""

    def __init__(self, basis, stay_off, stay_on, exponent=0.6, burn_in=100):
        self.exponent, self.burn_in = exponent, burn_in
        self.channels, self.components = np.shape(basis)
        self.states = np.array(list(itertools.product([0.0, 1.0], repeat=self.components))).T.copy()
        self.size = self.states.shape[1]
        self.moves = moves_between(self.states)  # 4 x n x n: how many components go i -> j
        self.flat_moves = self.moves.reshape(4, -1).T.copy()
        self.set_prior(stay_off, stay_on)
        self.set_basis(np.array(basis, dtype=float))
        self.law = stationary_law(self.states, stay_off, stay_on)
        # For each state: s1 (K), s2 (M K), the moves 0 -> 0, 0 -> 1, 1 -> 0 and 1 -> 1.
        self.u = np.zeros((self.components * (1 + self.channels) + 4, self.size))
        self.t = 0
        self.log_likelihood = 0.0

    def set_prior(self, stay_off, stay_on):
        """P(x, x') = p^n00 (1 - p)^n01 (1 - q)^n10 q^n11."""
        self.stay_off, self.stay_on = stay_off, stay_on
        logs = np.log([stay_off, 1 - stay_off, 1 - stay_on, stay_on])
        self.transition = np.exp(self.flat_moves @ logs).reshape(self.size, self.size)
        self.move_weights = self.moves * self.transition

    def set_basis(self, basis):
        self.basis = basis
        self.rates = basis @ self.states
        self.total_rates = self.rates.sum(axis=0)
        self.rates[:, 0] = 1  # of no component on, which explains no count: see weigh()
        self.log_rates = np.log(self.rates)

    def update(self, y):
        self.t += 1
        gamma = self.t ** -self.exponent
        previous = self.law
        predicted = previous if self.t == 1 else previous @ self.transition
        ratio = self.weigh(y, predicted)
        self.law = predicted * ratio
        if self.t > 1:
            self.carry(previous, ratio, gamma)
        self.add(y, gamma)
        if self.t >= self.burn_in:
            self.maximise()

    def weigh(self, y, predicted):
        """g(y | x) / p(y | past), for every state."""
        log_g = y @ self.log_rates
        log_g -= self.total_rates
        if y.any():
            log_g[0] = -np.inf
        largest = log_g.max()
        ratio = np.exp(log_g - largest)
        total = float(predicted @ ratio)
        self.log_likelihood += largest + math.log(total) - sum(math.lgamma(v + 1) for v in y)
        ratio /= total
        return ratio

    def carry(self, previous, ratio, gamma):
        self.u = self.u @ self.transition
        self.u *= (1 - gamma) * ratio
        # sum over x' of p(x') P(x', x) n_ij(x', x).
        self.u[-4:] += (previous @ self.move_weights) * (gamma * ratio)

    def add(self, y, gamma):
        activations = self.states * (gamma * self.law)
        self.u[:self.components] += activations
        counts = (y[:, None] / self.rates)[:, None, :] * activations
        counts *= self.basis[:, :, None]
        self.u[self.components:-4] += counts.reshape(-1, self.size)

    def maximise(self):
        sums = self.u.sum(axis=1)
        counts = sums[self.components:-4].reshape(self.channels, self.components)
        self.set_basis(counts / sums[:self.components])
        n00, n01, n10, n11 = sums[-4:].tolist()
        self.set_prior(n00 / (n00 + n01), n11 / (n10 + n11))


def moves_between(states):
    on, off = states, 1 - states
    return np.stack([off.T @ off, off.T @ on, on.T @ off, on.T @ on])


def stationary_law(states, stay_off, stay_on):
    on = (1 - stay_off) / (2 - stay_off - stay_on)
    return np.prod(np.where(states == 1, on, 1 - on), axis=0)
