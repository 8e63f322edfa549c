"""Forecasts of models, filters and streams."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Sequence, Union

import numpy as np

DRAWS = 4000  # of an observation, for its quantiles


class Forecast(NamedTuple):
    """Means and quantiles of later observations, for each step and channel."""

    mean: np.ndarray  #: horizon x M; one more channel with total=True
    quantiles: np.ndarray  #: horizon x M x number of levels
    levels: tuple[float, ...]  #: their probabilities, such as (0.05, 0.5, 0.95)


def as_forecast(forecast: Callable, horizon: int, quantiles: Optional[Sequence[float]],
                total: bool, draws: int, *seed: int) -> Union[np.ndarray, Forecast]:
    """Calls `forecast` of the core; the means alone if no quantiles are wanted."""
    if horizon < 1:
        raise ValueError(f"horizon={horizon}: expected 1 or more")
    levels = tuple(float(level) for level in (() if quantiles is None else quantiles))
    mean, table = forecast(horizon, list(levels), total, draws, *seed)
    if quantiles is None:
        return mean
    return Forecast(mean, table.reshape(*mean.shape, len(levels)), levels)
