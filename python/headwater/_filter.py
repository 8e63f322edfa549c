"""A fitted model applied to a stream, one observation at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from headwater import _core
from headwater._arrays import column_names, masked, observation, order_by_name
from headwater._forecast import DRAWS, Forecast, as_forecast


class FilterReport(NamedTuple):
    """What a model says of one observation; it was predicted from earlier ones alone."""

    t: int  #: number of the observation, from 1
    log_predictive: float  #: log p(y_t | y_1..t-1); -inf if no state of the model can produce y_t
    predicted: np.ndarray  #: E[y_t | y_1..t-1], M numbers
    activation: np.ndarray  #: E[x_t | y_1..t], K numbers
    tail_probability: Optional[float] = None  #: with surprise=True, as in `Score`


class Filter:
    """Applies a model to a stream, one observation at a time, without learning.

    `Model.filter()` makes one. Memory does not grow with the stream.
    """

    def __init__(self, model: "_core.FittedModel", last: bool, engine: dict, seed: int, phase: int):
        self._core = _core.Filter(model, last, engine, seed, phase)
        self._model = model
        self._seed = seed
        self._names = model.names
        self._observations = 0
        self._log_likelihood = 0.0

    def step(self, y: Any, exposure: Any = None, *, new_sequence: bool = False,
             surprise: bool = False) -> FilterReport:
        """Takes in one observation: M numbers, 0 or more, NaN where one is missing.

        `exposure` and `new_sequence` are as for `Stream.update`. `surprise=True` adds the
        probability of an observation at least as surprising. The cells of a pandas series with
        names are put into the order of the model.
        """
        order = order_by_name(self._names, column_names(y), "y", "the model")
        row = observation(y)
        if row.shape[0] != self._model.num_channels:
            raise ValueError(f"y has {row.shape[0]} channels; the model has "
                             f"{self._model.num_channels}")
        row = row[None, :] if order is None else row[None, order]
        if np.any(row < 0) or np.any(np.isinf(row)):
            raise ValueError("y has a value that is negative or infinite")
        exposures = None
        if exposure is not None:
            named = column_names(exposure)
            if named:
                order = order_by_name(self._names, named, "exposure", "the model")
            exposures = np.broadcast_to(observation(exposure, "exposure"), row.shape[1:])
            exposures = exposures[None, :] if order is None else exposures[None, order]
            row, exposures = masked(row, np.ascontiguousarray(exposures))
        begins = np.zeros(1, dtype=np.int64) if new_sequence else None
        activation = np.empty((1, self._model.num_components))
        predicted = np.empty((1, self._model.num_channels))
        log_predictive = np.empty(1)
        tail = np.empty(1) if surprise else None
        self._core.run(np.ascontiguousarray(row), exposures, begins, activation, log_predictive,
                       predicted, tail, alone=False)
        self._observations += 1
        found = float(log_predictive[0])
        if found != -np.inf:
            self._log_likelihood += found
        mean = predicted[0] if exposures is None else predicted[0] * exposures[0]
        return FilterReport(self._observations, found, mean, activation[0],
                            None if tail is None else float(tail[0]))

    def forecast(self, horizon: int, *, quantiles: Optional[Sequence[float]] = None,
                 total: bool = False, draws: int = DRAWS) -> Union[np.ndarray, Forecast]:
        """Forecasts the observations after the last one, as `Model.forecast` does."""
        if self._observations == 0:
            raise ValueError("there is no forecast before the first observation")
        return as_forecast(self._core.forecast, horizon, quantiles, total, draws, self._seed)

    @property
    def observations(self) -> int:
        """Number of observations so far."""
        return self._observations

    @property
    def log_likelihood(self) -> float:
        """Sum of log p(y_t | y_1..t-1) of the observations that are possible under the model."""
        return self._log_likelihood

    def __repr__(self) -> str:
        return f"Filter({self._observations} observations)"
