"""What a stream has learned so far."""

from __future__ import annotations

import html
from typing import Any, Optional, Sequence, Union

import numpy as np

from headwater import _core
from headwater._forecast import DRAWS, Forecast, as_forecast
from headwater._model import Model, Path
from headwater._results import StandardErrors, Surprise, errors_from


class Estimates:
    """What a stream has learned so far; with restarts, what the best of its fits has learned."""

    _sessions: list["_core.Session"]  # one, or as many as there are restarts
    _prior: Any                       # one of the user's own, or None

    def model(self) -> Model:
        """The present estimate, as a model that no longer changes."""
        best = self._started()
        return self._with_stability(best.model(), [session.model() for session in self._sessions
                                                   if session is not best])

    def _with_stability(self, core: "_core.FittedModel", others: Sequence[Any]) -> Model:
        if others:
            core.set_stability(others)
        return Model(core, self._prior)

    @property
    def basis(self) -> np.ndarray:
        """M x K: column k is what component k adds to each channel."""
        return self.model().basis

    @property
    def background(self) -> Optional[np.ndarray]:
        """The component that is always on, M numbers; None if the fit has none."""
        return self.model().background

    @property
    def parameters(self) -> dict[str, Any]:
        """The prior's parameters by name: a float, or an array if components have their own."""
        return self.model().parameters

    @property
    def standard_errors(self) -> Optional[StandardErrors]:
        """Standard errors of the estimate so far; None unless the stream has standard_errors=True.

        Takes about as long as some thousand observations. None while there are too few.
        """
        num_components = self.basis.shape[1]
        return errors_from(self._started().standard_errors(), num_components)

    @property
    def activation(self) -> np.ndarray:
        """E[x_t | y_1..t], K numbers: how much of each component is on now."""
        return self._started().activation()

    @property
    def last_step(self) -> Optional[dict[str, Any]]:
        """The report on the last observation: the fields of --log; None before the first one."""
        return self._best.report()

    @property
    def surprise(self) -> Optional[Surprise]:
        """How unusual the last observation was under the model: `by_model` of --surprise.

        None before the first observation.
        """
        found = self._best.surprise()
        return None if found is None else Surprise(*found[:-1], tuple(found[-1]))

    @property
    def log_likelihood(self) -> float:
        """Sum of log p(y_t | y_1..t-1) so far, each term under the parameters at time t."""
        return self._best.log_likelihood

    @property
    def observations(self) -> int:
        """Number of observations so far."""
        return self._sessions[0].observations

    @property
    def has_started(self) -> bool:
        """Whether there is an estimate: from the first observation on, or after batch EM."""
        return self._best.has_started or self._best.is_finished

    def forecast(self, horizon: int, *, quantiles: Optional[Sequence[float]] = None,
                 total: bool = False, draws: int = DRAWS) -> Union[np.ndarray, Forecast]:
        """Forecasts the observations after the last one. The stream does not change.

        Without `quantiles`, returns the means E[y_t+h | y_1..t] for h = 1, ..., horizon: horizon x
        M. With `quantiles`, returns a `Forecast`; the quantiles are those of `draws` observations
        drawn at each step. `total=True` adds a channel, the sum of all others.
        """
        return as_forecast(self._started().forecast, horizon, quantiles, total, draws)

    def report(self, path: Path, Y: Any = None, **options: Any) -> None:
        """Writes a page that shows the model as if the stream ended here: see `Model.report`."""
        self.ended().report(path, Y, **options)

    def _repr_html_(self) -> str:
        if not self.has_started:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return self.model()._repr_html_()

    def ended(self) -> Model:
        """The model that the stream would have if it ended here. The stream itself can go on."""
        best = self._best
        others = [session for session in self._sessions if session is not best]
        return self._with_stability(_ended(best), [_ended(session) for session in others])

    @property
    def _best(self) -> "_core.Session":
        if len(self._sessions) == 1:
            return self._sessions[0]
        return max(self._sessions, key=lambda session: session.merit)

    def _started(self) -> "_core.Session":
        best = self._best
        if best.has_started or best.is_finished:
            return best
        if best.observations == 0:
            raise ValueError("there is no estimate: the stream has had no observation")
        raise ValueError(
            f"there is no estimate yet: batch EM keeps all observations, {best.observations:,} so "
            "far; finish() ends the stream, and ended() returns the model as if it had ended")


def _ended(session: "_core.Session") -> "_core.FittedModel":
    """The model that the session would have if the stream ended here."""
    if not session.is_finished:
        session = session.copy()
        session.finish()
    return session.model()
