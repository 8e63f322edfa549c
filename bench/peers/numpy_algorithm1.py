"""Algorithm 1 of Yildirim, Cemgil and Singh (2012) for relaxed selection, in vectorised NumPy.

Written to be fast: no loop over particles, particles along the last axis so that every inner loop
is long and contiguous, buffers that are used again, one uniform number for each move, and the
discount 1 - gamma_t as a common factor of all tables instead of a pass over them.

A place x in (0, 1) is stored as v: x itself up to 1/2, and x - 1 above, so that the distance to the
nearer edge, which gets as small as 1e-70, is |v| and never rounds to zero.
"""

import math

import numpy as np


class Algorithm1:
    """update(y) is one step: filter, statistics, and an M-step for the basis and alpha."""

    def __init__(self, basis, alpha, num_particles, seed=1, exponent=0.6, burn_in=100,
                 resample_below=0.5):
        self.basis = np.array(basis, dtype=float)
        self.alpha = alpha
        self.num_particles = num_particles
        self.random = np.random.Generator(np.random.SFC64(seed))
        self.exponent, self.burn_in, self.resample_below = exponent, burn_in, resample_below
        self.t = 0
        self.log_likelihood = 0.0
        channels, components = self.basis.shape
        self.index = np.arange(num_particles)
        self.places = draw_stationary(self.random, alpha, (components, num_particles))
        self.activations = np.empty_like(self.places)
        self.moved_away = np.zeros(num_particles)
        self.log_weights = np.zeros(num_particles)
        self.weights = np.full(num_particles, 1 / num_particles)
        # A column for each particle: s1 (K rows), s2 (M K), moves towards the edge and away from
        # it; all over `scale`, the product of the discounts.
        self.tables = np.zeros((components + channels * components + 2, num_particles))
        self.gathered = np.empty_like(self.tables)
        self.shares = np.empty((channels, components, num_particles))
        self.scale = 1.0

    def update(self, y):
        self.t += 1
        if self.t > 1:
            self.resample_if_uneven()
            self.move()
        # x = v or v + 1.
        np.add(self.places, self.places < 0, out=self.activations)
        intensities = self.weigh(y)
        self.add_statistics(y, intensities)
        if self.t >= self.burn_in:
            self.maximise()

    def resample_if_uneven(self):
        if 1 / (self.weights @ self.weights) >= self.resample_below * self.num_particles:
            return
        ancestors = self.systematic()
        self.places = self.places.take(ancestors, axis=1)
        self.tables.take(ancestors, axis=1, out=self.gathered, mode="clip")
        self.tables, self.gathered = self.gathered, self.tables
        self.log_weights[:] = 0

    def systematic(self):
        """Particle i is copied as often as a point u, u + 1, u + 2, ... lies in its share of N."""
        n = self.num_particles
        edges = np.ceil(n * np.cumsum(self.weights) - self.random.random()).astype(int)
        np.minimum(edges, n, out=edges)  # the weights' sum may round to more than 1 ...
        edges[-1] = n                    # ... or to less
        copies = edges.copy()
        copies[1:] -= edges[:-1]
        return self.index.repeat(copies)

    def move(self):
        """Towards the edge where u < alpha, and then u / alpha is uniform again; else away."""
        u = self.random.random(self.places.shape)
        before = self.places
        self.places = u * (1 / self.alpha)
        self.places *= before
        away = np.flatnonzero(u >= self.alpha)
        v = before.ravel()[away]
        distance = np.abs(v)
        place = distance + (1 - distance) * (u.ravel()[away] - self.alpha) / (1 - self.alpha)
        place -= place > 0.5
        self.places.ravel()[away] = np.where(v > 0, place, -place)
        self.moved_away = np.bincount(away % self.num_particles, minlength=self.num_particles)

    def weigh(self, y):
        """Weights times the Poisson likelihood. Returns the intensities."""
        intensities = self.basis @ self.activations
        positive = np.flatnonzero(y)
        seen = intensities if len(positive) == len(y) else intensities[positive]
        log_likelihoods = y[positive] @ np.log(seen)
        log_likelihoods -= self.basis.sum(axis=0) @ self.activations
        before = self.log_weights
        self.log_weights = before + log_likelihoods
        largest = self.log_weights.max()
        weights = np.exp(self.log_weights - largest)
        total = weights.sum()
        self.weights = weights / total
        # Log-weights are kept such that they mean to 1, so this is log p(y_t | y_1..t-1).
        log_mean = largest + math.log(total / self.num_particles)
        self.log_weights -= log_mean
        self.log_likelihood += log_mean - sum(math.lgamma(count + 1) for count in y)
        return intensities

    def add_statistics(self, y, intensities):
        """T <- (1 - gamma) T + gamma s, with the counts entering at once."""
        gamma = self.t ** -self.exponent
        if self.t > 1:
            self.scale *= 1 - gamma
        weight = gamma / self.scale
        channels, components = self.basis.shape
        self.tables[:components] += weight * self.activations
        ratios = (weight * y)[:, None] / intensities
        np.multiply(ratios[:, None, :], self.activations, out=self.shares)
        self.shares *= self.basis[:, :, None]
        self.tables[components:-2] += self.shares.reshape(channels * components, -1)
        if self.t > 1:
            away = weight * self.moved_away
            self.tables[-2] += weight * components - away
            self.tables[-1] += away

    def statistics(self):
        """s1, s2 and the two sums of moves."""
        return self.scale * (self.tables @ self.weights)

    def maximise(self):
        channels, components = self.basis.shape
        sums = self.tables @ self.weights  # over `scale`, which no ratio depends on
        self.basis = sums[components:-2].reshape(channels, components) / sums[:components]
        self.alpha = sums[-2] / (sums[-2] + sums[-1])


def draw_stationary(random, alpha, shape):
    """By rejection from d^-alpha on (0, 1/2]: the law is d^-alpha (1 - d)^-(1 - alpha)."""
    places = np.empty(shape)
    waiting = np.ones(shape, dtype=bool)
    while waiting.any():
        count = waiting.sum()
        distance = 0.5 * random.random(count) ** (1 / (1 - alpha))
        accepted = random.random(count) < (2 * (1 - distance)) ** -(1 - alpha)
        side = np.where(random.random(count) < 0.5, 1.0, -1.0)
        places[waiting] = side * distance
        waiting[waiting] = ~accepted
    return places
