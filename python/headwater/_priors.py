"""Priors: those that there are, and those of one's own."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from headwater import _core


class Prior(Protocol):
    """What a prior of your own needs; it may be any object with these.

    A state is `state_size` numbers, a block of particles an n x state_size array. All methods take
    and return whole blocks.

    Methods that are optional, and what they buy:

    - ``log_transition(previous, next)`` -> n log-densities: smoothers `paris` and `forward`
    - ``parameters()`` -> dict of numbers, ``set_parameter(name, value)`` (ValueError for an unknown
      name or a value out of range), ``num_statistics``, ``statistics(previous, next)`` ->
      n x num_statistics, ``maximise(sums)``: the prior's own parameters are learned; `sums` are the
      averages of the statistics, up to a common factor
    - ``finite_chain()`` -> list of (states, transition), one for each independent part, instead of
      the sample functions: finitely many states, and the exact engine; ``maximise(moves)`` is then
      given the expected moves i -> j, part after part, row by row

    Random numbers come from `random`, where each particle has its own: ``random.uniform(columns)``,
    ``normal(columns)``, ``exponential(columns)``, ``gamma(shapes)``, ``poisson(means)``. Numbers
    from elsewhere would make results depend on threads, and would not come again.

    Parameters belong to the object: a fit changes deep copies of it, never the one that was given.
    """

    num_components: int
    state_size: int

    def sample_initial(self, random: Any, n: int) -> np.ndarray:
        """n states from the stationary law, n x state_size."""

    def sample_transition(self, random: Any, states: np.ndarray) -> np.ndarray:
        """The next state of each row."""

    def activations(self, states: np.ndarray) -> np.ndarray:
        """n x num_components numbers, 0 or more."""


def check_prior(prior: Any, *, seed: int = 1, alarm_rate: float = 1e-6,
                num_draws: int = 20000) -> list[str]:
    """What is wrong with a prior of your own, one sentence each; an empty list if nothing is.

    Checks that sizes fit, that the law of the activations stays the same from the first state on,
    that densities and the M-step go with the draws. `alarm_rate` is the chance of a false finding.
    The project's own priors are tested by the same function.
    """
    return _core.check_prior(prior, seed, alarm_rate, num_draws)


def list_priors() -> dict[str, tuple[str, dict[str, str]]]:
    """Every prior by its name: what it means, and its parameters with their meanings."""
    return _core.list_priors()
