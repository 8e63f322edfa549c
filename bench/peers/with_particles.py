"""Relaxed selection in the Python package `particles`, with its online smoothers.

What is smoothed is the additive function of online EM's statistics, K + M K + 2 numbers, with the
parameters held: the package has no M-step. States are stored as in numpy_algorithm1: v = x up to
1/2 and x - 1 above. Everything that the package calls is vectorised over particles.
"""

import numpy as np
import particles
from particles import collectors, distributions, state_space_models

from peers.numpy_algorithm1 import draw_stationary


class Start(distributions.ProbDist):
    def __init__(self, alpha, components):
        self.alpha, self.dim = alpha, components

    def rvs(self, size=None):
        random = np.random.default_rng(np.random.randint(2 ** 31))
        return draw_stationary(random, self.alpha, (size, self.dim))


class Move(distributions.ProbDist):
    """The law of the next places, given the present ones; its density is in log |v|."""

    def __init__(self, model, before):
        self.model, self.before = model, before
        self.dim = before.shape[-1]

    def rvs(self, size=None):
        alpha = self.model.alpha
        u = np.random.random_sample(self.before.shape)
        places = u * (1 / alpha)
        places *= self.before
        away = np.flatnonzero(u >= alpha)
        v = self.before.ravel()[away]
        distance = np.abs(v)
        place = distance + (1 - distance) * (u.ravel()[away] - alpha) / (1 - alpha)
        place -= place > 0.5
        places.ravel()[away] = np.where(v > 0, place, -place)
        return places

    def logpdf(self, after):
        log_towards, log_away = self.model.log_densities(self.before)
        towards = moved_towards(self.before, after)
        # Times |v|, the Jacobian, which bounds the density.
        return np.where(towards, log_towards, log_away).sum(axis=-1) + np.log(np.abs(after)).sum(-1)


class Counts(distributions.ProbDist):
    def __init__(self, intensities):
        self.intensities = intensities
        self.dim = intensities.shape[-1]

    def logpdf(self, y):
        """Without the factorials."""
        return np.log(self.intensities) @ y - self.intensities.sum(axis=-1)


class RelaxedSelection(state_space_models.StateSpaceModel):
    """Parameters: basis, alpha, data."""

    def PX0(self):
        return Start(self.alpha, self.basis.shape[1])

    def PX(self, t, xp):
        return Move(self, xp)

    def PY(self, t, xp, x):
        return Counts(activations(x) @ self.basis.T)

    def upper_bound_log_pt(self, t):
        return self.basis.shape[1] * np.log(self.alpha)

    def log_densities(self, before):
        """Kept for the last array of places: the smoothers ask N times for the same one."""
        if getattr(self, "places", None) is not before:
            self.places, distance = before, np.abs(before)
            self.kept = (np.log(self.alpha / distance), np.log((1 - self.alpha) / (1 - distance)))
        return self.kept

    def add_func(self, t, xp, x):
        """s1, s2, and the moves towards the edge and away from it."""
        active = activations(x)
        shares = (self.data[t] / (active @ self.basis.T))[..., :, None] * active[..., None, :]
        shares *= self.basis
        components = x.shape[-1]
        width = components + self.basis.size
        out = np.empty((len(x) if xp is None else len(xp), width + 2))
        out[:, :components] = active
        out[:, components:width] = shares.reshape(*x.shape[:-1], -1)
        towards = 0 if xp is None else moved_towards(xp, x).sum(axis=-1)
        out[:, width] = towards
        out[:, width + 1] = 0 if xp is None else components - towards
        return out


def activations(places):
    return places + (places < 0)


def moved_towards(before, after):
    """Same side and no farther from the edge: the ratio is in [0, 1], both not being 0."""
    ratio = after / before
    return (ratio >= 0) & (ratio <= 1)


def filter_with(collector, basis, alpha, data, num_particles):
    """An iterator: next() is one step. collector: None, or what to smooth with."""
    model = RelaxedSelection(basis=np.array(basis), alpha=alpha, data=data)
    problem = state_space_models.Bootstrap(ssm=model, data=data)
    return particles.SMC(fk=problem, N=num_particles, ESSrmin=0.5, resampling="systematic",
                         collect=None if collector is None else [collector])


def smoothed(steps, collector):
    """The sums of the statistics so far, of a filter with that collector."""
    return getattr(steps.summaries, collector.summary_name)[-1]


def naive():
    return collectors.Online_smooth_naive()


def square():
    return collectors.Online_smooth_ON2()


def paris(max_trials=0):
    """Two draws. By rejection at most max_trials times, then from all N weights: rejection hardly
    ever succeeds for this chain, and the default, N trials, only takes longer."""
    return collectors.Paris(max_trials=max_trials)
