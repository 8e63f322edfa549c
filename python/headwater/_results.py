"""Results of models and streams, as named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np


class Score(NamedTuple):
    """How well a model predicts data, one step ahead."""

    log_likelihood: float  #: of the observations that are possible under the model
    observations: int
    per_observation: float
    log_predictive: np.ndarray  #: log p(y_t | y_1..t-1), T numbers
    #: With surprise=True: the probability of an observation at least as surprising, T numbers. They
    #: are uniform on (0, 1) if the model is right.
    tail_probability: Optional[np.ndarray] = None
    #: How many observations no state of the model can produce; their log_predictive is -inf.
    impossible_observations: int = 0
    sequences: int = 1
    #: With surprise=True: probabilities of a sum of all counts at least as extreme, and that some
    #: channel is at least as extreme as the most extreme one; T numbers each.
    p_total: Optional[np.ndarray] = None
    p_channels: Optional[np.ndarray] = None
    #: Of the log-likelihood, from a second run with other random numbers; 0 without particles, and
    #: with sequence=False.
    standard_error: float = 0.0


class Surprise(NamedTuple):
    """How unusual an observation was, given all earlier ones."""

    surprise: float  #: -log p(y_t | y_1..t-1), in nats
    #: Probability of one at least as surprising: uniform on (0, 1) if the model is right.
    tail_probability: float
    p_total: float = 1.0  #: probability of a sum of all counts at least as extreme, on either side
    p_channels: float = 1.0  #: that some channel is at least as extreme as the most extreme one
    #: The channels with the smallest tail probabilities: index, expected, seen and p of each.
    channels: tuple[tuple[int, float, float, float], ...] = ()


class StandardErrors(NamedTuple):
    """How far an estimate may be from the truth by chance: standard deviations."""

    basis: np.ndarray  #: M x K
    background: Optional[np.ndarray]  #: M numbers; None if the fit had no background
    #: By name: of the prior's parameters, and of the dispersion. Those that were held are left out.
    parameters: dict[str, Any]
    #: As they would be if the model were right in every respect.
    plain_basis: np.ndarray
    plain_parameters: dict[str, Any]
    #: "full": all numbers were computed jointly; "channel": each channel by itself.
    information: str
    #: By period: of the profiles of the season, K x P. Those that were held are left out.
    periods: dict[int, np.ndarray]
    plain_periods: dict[int, np.ndarray]


class PriorScore(NamedTuple):
    """How well a prior predicted held-out observations: see `Model.choice_of_prior`."""

    prior: str
    counts: str  #: the law of the counts that was chosen with it
    score: float  #: mean of log p(y_t | y_1..t-1), in nats an observation
    standard_error: float  #: of the difference from the chosen prior's score; 0 for that prior
    chosen: bool


class Stability(NamedTuple):
    """How many fits of the same stream, with different seeds, found each component."""

    restarts: int  #: number of fits
    found: np.ndarray  #: K numbers: how many of them found the component, this one included


def errors_from(found: Any, num_components: int) -> Optional[StandardErrors]:
    """What the library returns, as a StandardErrors."""
    if found is None:
        return None
    basis, parameters, periods, plain_basis, plain_parameters, plain_periods, is_full = found
    has_background = basis.shape[1] > num_components
    return StandardErrors(basis[:, :num_components], basis[:, -1] if has_background else None,
                          parameters, plain_basis[:, :num_components], plain_parameters,
                          "full" if is_full else "channel", periods, plain_periods)
