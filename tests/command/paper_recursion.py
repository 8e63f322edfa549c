"""Algorithm 1 of Yildirim, Cemgil and Singh (2012), for basis selection, with the exact filter.

The sums over particles become sums over all 2^K states; everything else is as printed. T1, C and T3
are functions of x_t, averaged over x_t-1 by the backward kernel p(x_t-1 | x_t, y_1..t-1), and the
M-step consists of ratios only. Omissions and misprints of the paper are interpreted as follows:

  - s3 = (0 -> 0, from 0, 1 -> 1, from 1): the normalisers count x_t-1, not x_t;
  - there is no x_0, so T3 starts at 0;
  - p is P(0 -> 0) and q is P(1 -> 1), and the chain starts in their stationary distribution;
  - gamma_1 = 1;
  - during the burn-in, neither psi nor B changes.
"""

import itertools
import math
from collections import namedtuple

import numpy as np

Result = namedtuple("Result", "basis stay_off stay_on log_likelihood")

LOG_FACTORIAL = np.array([math.lgamma(count + 1) for count in range(1000)])


class Recursion:
    def __init__(self, basis, stay_off, stay_on, exponent=0.8, burn_in=100, learn_prior=False,
                 recomputes_counts=True, normalises_by_previous=True):
        """recomputes_counts: y_t-1 enters C with B_t, as printed; otherwise y_t enters T2
        immediately with B_t and is not recomputed. normalises_by_previous: False for s3 as
        printed."""
        self.basis = np.array(basis, dtype=float)
        self.exponent = exponent
        self.burn_in = burn_in
        self.learn_prior = learn_prior
        self.recomputes_counts = recomputes_counts
        self.normalises_by_previous = normalises_by_previous
        num_channels, num_components = self.basis.shape
        self.states = np.array(list(itertools.product([0.0, 1.0], repeat=num_components)))
        self.num_on = self.states.sum(axis=1)
        self.num_off = num_components - self.num_on
        self.both_on = self.states @ self.states.T
        self.both_off = (1 - self.states) @ (1 - self.states).T
        moves = [self.both_off, self.num_off[:, None] - self.both_off,
                 self.num_on[:, None] - self.both_on, self.both_on]
        self.moves = [count.astype(int) for count in moves]
        self.columns_1 = slice(0, num_components)
        self.columns_2 = slice(num_components, num_components * (1 + num_channels))
        self.columns_3 = slice(self.columns_2.stop, self.columns_2.stop + 4)
        self.t = 0
        self.log_likelihood = 0.0
        self.set_prior(stay_off, stay_on)
        self.set_basis(self.basis)

    def set_prior(self, stay_off, stay_on):
        """P(x', x) = p^n00 (1 - p)^n01 (1 - q)^n10 q^n11, where n_ij components go from i to j."""
        self.stay_off, self.stay_on = stay_off, stay_on
        bases = np.array([[stay_off], [1 - stay_off], [1 - stay_on], [stay_on]])
        powers = bases ** np.arange(self.basis.shape[1] + 1)
        n00, n01, n10, n11 = self.moves
        self.transition = powers[0][n00] * powers[1][n01] * powers[2][n10] * powers[3][n11]

    def set_basis(self, basis):
        self.basis = basis
        self.rates = self.states @ basis.T
        with np.errstate(divide="ignore"):
            self.log_rates = np.log(self.rates)
            self.inverse_rates = np.where(self.rates > 0, 1 / self.rates, 0)
        self.total_rates = self.rates.sum(axis=1)

    def stationary_law(self):
        on = (1 - self.stay_off) / (2 - self.stay_off - self.stay_on)
        return on ** self.num_on * (1 - on) ** self.num_off

    def expected_z(self, y):
        """E[z | x, y] for every state, one row of M K numbers each."""
        shares = (y * self.inverse_rates)[:, :, None] * self.basis * self.states[:, None, :]
        return shares.reshape(len(self.states), -1)

    def mean_z(self, y):
        """E[z | y_1..t]: the mean of expected_z under the filtering distribution."""
        shares = (self.law[:, None] * self.inverse_rates).T @ self.states
        return y[:, None] * self.basis * shares

    def weigh(self, predicted, y):
        """The filtering distribution, from the predictive distribution and the observation."""
        positive = np.flatnonzero(y)
        log_g = self.log_rates[:, positive] @ y[positive] - self.total_rates
        largest = log_g.max()
        joint = predicted * np.exp(log_g - largest)
        total = joint.sum()
        self.log_likelihood += largest + math.log(total) - LOG_FACTORIAL[y.astype(int)].sum()
        return joint / total

    def update(self, y):
        self.t += 1
        gamma = self.t ** -self.exponent
        if self.t == 1:
            predicted = self.stationary_law()
            self.statistics = np.zeros((len(self.states), self.columns_3.stop))
        else:
            predicted = self.law @ self.transition
            self.average_over_previous(predicted, gamma)
        self.statistics[:, self.columns_1] += gamma * self.states
        self.law = self.weigh(predicted, y)
        if not self.recomputes_counts:
            self.statistics[:, self.columns_2] += gamma * self.expected_z(y)
        if self.t >= self.burn_in:
            self.maximise(y, gamma)
        self.previous_y, self.previous_gamma = y, gamma

    def average_over_previous(self, predicted, gamma):
        backward = self.law[:, None] * self.transition / predicted
        if self.recomputes_counts:
            again = self.previous_gamma * self.expected_z(self.previous_y)
            self.statistics[:, self.columns_2] += again
        self.statistics = (1 - gamma) * (backward.T @ self.statistics)
        if self.learn_prior:
            self.statistics[:, self.columns_3] += gamma * self.expected_moves(backward)

    def expected_moves(self, backward):
        came_from_off = self.num_off @ backward
        came_from_on = self.num_on @ backward
        by_previous = self.normalises_by_previous
        return np.column_stack([(backward * self.both_off).sum(axis=0),
                                came_from_off if by_previous else self.num_off,
                                (backward * self.both_on).sum(axis=0),
                                came_from_on if by_previous else self.num_on])

    def maximise(self, y, gamma):
        sums = self.law @ self.statistics
        s2 = sums[self.columns_2].reshape(self.basis.shape)
        if self.recomputes_counts:
            s2 = s2 + gamma * self.mean_z(y)
        basis = s2 / sums[self.columns_1]
        if self.learn_prior:
            stayed_off, from_off, stayed_on, from_on = sums[self.columns_3]
            self.set_prior(stayed_off / from_off, stayed_on / from_on)
        self.set_basis(basis)


def online_em(observations, *arguments, **options):
    recursion = Recursion(*arguments, **options)
    for y in observations:
        recursion.update(y)
    return Result(recursion.basis, recursion.stay_off, recursion.stay_on, recursion.log_likelihood)
