"""Priors: the built-in ones, and your own."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from headwater import _core


class Prior(Protocol):
    """The interface of a prior. Any object with these attributes and methods is a prior.

    A state is `state_size` numbers. A block of n particles is an n x state_size array. All methods
    take and return whole blocks.

    Optional methods, and what they make possible:

    - ``log_transition(previous, next)`` -> n log-densities: smoothers `paris` and `forward`
    - ``parameters()`` -> dict of numbers, ``set_parameter(name, value)`` (ValueError for an unknown
      name or a value out of range), ``num_statistics``, ``statistics(previous, next)`` ->
      n x num_statistics, ``maximise(sums)``: learning the prior's own parameters; `sums` are the
      averages of the statistics, up to a common factor
    - ``finite_chain()`` -> list of (states, transition), one for each independent part, instead of
      the sample functions: finitely many states, and the exact engine; ``maximise(moves)`` then
      receives the expected numbers of moves i -> j, part after part, row by row

    Random numbers come from `random`, where each particle has its own: ``random.uniform(columns)``,
    ``normal(columns)``, ``exponential(columns)``, ``gamma(shapes)``, ``poisson(means)``. With other
    random numbers, results would depend on threads and could not be repeated.

    A fit changes the parameters of deep copies, never those of your object.
    """

    num_components: int
    state_size: int

    def sample_initial(self, random: Any, n: int) -> np.ndarray:
        """Draws n states from the stationary law: n x state_size."""

    def sample_transition(self, random: Any, states: np.ndarray) -> np.ndarray:
        """Draws the next state of each row."""

    def activations(self, states: np.ndarray) -> np.ndarray:
        """The activations in these states: n x num_components numbers, 0 or more."""


def check_prior(prior: Any, *, seed: int = 1, alarm_rate: float = 1e-6,
                num_draws: int = 20000) -> list[str]:
    """Checks a prior and returns its faults, one sentence each; [] if it has none.

    The function checks that sizes fit, that the first state is drawn from the stationary law, and
    that densities and the M-step agree with the draws. `alarm_rate` is the probability of a false
    alarm. The same function tests the built-in priors.
    """
    return _core.check_prior(prior, seed, alarm_rate, num_draws)


def list_priors() -> dict[str, tuple[str, dict[str, str]]]:
    """Every built-in prior by name: its meaning, and its parameters with their meanings."""
    return _core.list_priors()
