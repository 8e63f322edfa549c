"""Fitted models and their use on data."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional, Sequence, Union

import numpy as np

from headwater import _core
from headwater._arrays import Exposures, Rows, checked_blocks, masked, table
from headwater._filter import Filter
from headwater._forecast import DRAWS, Forecast, as_forecast
from headwater._html import summary
from headwater._options import SEED, with_engine_options
from headwater._results import PriorScore, Score, Stability, StandardErrors, errors_from
from headwater._times import row_times

Path = Union[str, "os.PathLike[str]"]


def checked_path(path: Path) -> str:
    """The name of the file, after a check that it can be read; OSError if it cannot."""
    name = os.fspath(path)
    with open(name, "rb"):
        return name


class Model:
    """A fitted model: a basis and a prior, which no longer change.

    `Stream.model()` and `Model.load` return one. If iterates were averaged, the model uses the
    average; `last=True` asks for the last iterate instead.
    """

    def __init__(self, core: "_core.FittedModel", prior: Any = None):
        self._core = core
        self._prior = prior  # the Python object, if the prior is one

    @classmethod
    def load(cls, path: Path, prior: Any = None) -> "Model":
        """Reads a model file, written by the command or by `save`.

        If the model has a prior of your own, pass that prior.
        """
        return cls(_core.read_model(checked_path(path), prior), prior)

    def save(self, path: Path) -> None:
        """Writes a model file (HDF5), the same as the command writes."""
        try:
            self._core.save(os.fspath(path))
        except _core.InputError as error:
            raise OSError(str(error)) from None

    @property
    def basis(self) -> np.ndarray:
        """M x K: column k is what component k adds to each channel."""
        return self._core.basis(False)

    @property
    def background(self) -> Optional[np.ndarray]:
        """The component that is always on, M numbers; None if the fit had none."""
        return self._core.background(False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The prior's parameters by name: a float, or an array if components have their own."""
        return self._core.parameters(False)

    @property
    def last_basis(self) -> np.ndarray:
        """The basis of the last iterate."""
        return self._core.basis(True)

    @property
    def last_parameters(self) -> dict[str, Any]:
        """The parameters of the last iterate."""
        return self._core.parameters(True)

    def trace(self, last: bool = False) -> dict[str, np.ndarray]:
        """The estimates over time: columns `t`, `log_likelihood`, parameters, `basis_1_1`, ..."""
        return self._core.trace(last)

    @property
    def options(self) -> dict[str, str]:
        """The options of the fit, by their names in the command; values are text."""
        return self._core.options()

    @property
    def prior(self) -> str:
        """The prior's name."""
        return self._core.prior

    @property
    def names(self) -> list[str]:
        """The names of the channels, as the data had them; empty if they had none."""
        return self._core.names

    @property
    def num_channels(self) -> int:
        return self._core.num_channels

    @property
    def num_components(self) -> int:
        return self._core.num_components

    @property
    def observations(self) -> int:
        """Number of observations that the fit has seen."""
        return self._core.observations

    @property
    def impossible_observations(self) -> int:
        """Number of observations that no state could explain; they were treated as missing."""
        return self._core.impossible_observations

    @property
    def log_likelihood(self) -> float:
        """Sum of log p(y_t | y_1..t-1), each term under the parameters at time t."""
        return self._core.log_likelihood

    @property
    def log_likelihood_after_start(self) -> float:
        """The same over the observations after the last search for a start."""
        return self._core.log_likelihood_after_start

    @property
    def observations_after_start(self) -> int:
        """Number of observations after the last search for a start."""
        return self._core.observations_after_start

    @property
    def over_running_mean(self) -> tuple[float, float, int]:
        """How much better the fit predicted than the running mean of each channel.

        The gain in nats an observation, its standard error, and the number of observations that
        were compared: those after the first search for a start; 0 after batch EM.
        """
        return self._core.over_running_mean()

    @property
    def standard_errors(self) -> Optional[StandardErrors]:
        """Standard errors of the estimate; None unless the fit had standard_errors=True.

        None also if the stream was too short.
        """
        return errors_from(self._core.standard_errors(), self.num_components)

    @property
    def choice_of_prior(self) -> list[PriorScore]:
        """With prior="auto": the priors that were compared. Otherwise empty."""
        return [PriorScore(*row) for row in self._core.choice_of_prior()]

    @property
    def stability(self) -> Optional[Stability]:
        """With restarts=R: how many of the R fits found each component; otherwise None.

        Another fit has found a component if the column that is paired with it has a cosine of .95
        or more.
        """
        restarts, found = self._core.stability()
        return Stability(restarts, np.array(found)) if found else None

    @property
    def warnings(self) -> list[str]:
        """Doubts about the fit, and what to do about them: the warnings that `fit` prints."""
        return self._core.quality_notes()

    @property
    def counts(self) -> dict[str, Any]:
        """The law of the counts: ``{"law": "negative-binomial", "dispersion": ...}``.

        `dispersion`, and the `excess` of a hurdle law, is a number, or one for each channel.
        """
        return self._core.counts(False)

    @property
    def periods(self) -> dict[int, np.ndarray]:
        """The season: for each period P the profile, K x P, with rows of mean 1. May be empty."""
        return self._core.periods(False)

    @property
    def channel_periods(self) -> dict[int, np.ndarray]:
        """Gains of single channels beside the season's profiles: M x P for each period P.

        Empty if all are 1.
        """
        return self._core.channel_periods(False)

    @property
    def iterations(self) -> int:
        """Iterations of batch EM, or M-steps of online EM."""
        return self._core.iterations

    @property
    def converged(self) -> bool:
        """Whether batch EM stopped because an iteration gained less than the tolerance."""
        return self._core.converged

    @property
    def engine(self) -> str:
        return self._core.engine

    @property
    def method(self) -> str:
        return self._core.method

    @property
    def seed(self) -> int:
        return self._core.seed

    @with_engine_options
    def apply(self, Y: Any, *, smooth: bool = False, sequence: bool = True, lengths: Any = None,
              exposure: Any = None, last: bool = False, phase: int = 0, seed: int = SEED,
              **engine: Any) -> np.ndarray:
        """Activations, T x K: E[x_t | y_1..t], or given all of Y with `smooth=True`.

        The same as `headwater apply`. `lengths` are the lengths of the sequences that the rows
        consist of. An array Y of three dimensions (S x T x M) has S sequences, and the activations
        are S x T x K. `sequence=False` treats each row as the first observation of a stream.
        `phase` is that of the first row in the model's season. Further options, as for `Stream`:
        {engine_options}.
        """
        rows = self._rows(Y, lengths)
        if smooth:
            if not sequence:
                raise ValueError("smooth=True needs a sequence of rows; sequence is False")
            block, seen = rows.all(), None
            if exposure is not None:
                block, seen = masked(block, Exposures(exposure, rows).block(0, len(rows)))
            means = self._core.smooth(block, seen, rows.begins(0, len(rows)), last, engine, seed,
                                      phase)
            return rows.as_given(means)
        activations = np.empty((len(rows), self.num_components))
        self._run(rows, exposure, last, phase, engine, seed, not sequence, activations=activations)
        return rows.as_given(activations)

    def score(self, Y: Any, *, sequence: bool = True, lengths: Any = None, surprise: bool = False,
              exposure: Any = None, last: bool = False, phase: int = 0, seed: int = SEED,
              **engine: Any) -> Score:
        """Log-likelihood of Y, one step ahead; the same as `headwater score`.

        `surprise=True` adds three probabilities for each row: of an observation at least as
        surprising, of a total at least as extreme, and that some channel is at least as extreme as
        the most extreme one. The log-likelihood of several sequences (`lengths`, or an array of
        three dimensions) is the sum of their own.
        """
        if surprise and not sequence:
            raise ValueError("surprise=True needs a sequence of rows; sequence is False")
        rows = self._rows(Y, lengths)
        outputs = {"log_predictive": np.empty(len(rows))}
        if surprise:
            for name in "tail_probability", "p_total", "p_channels":
                outputs[name] = np.empty(len(rows))
        run = self._run(rows, exposure, last, phase, engine, seed, not sequence,
                        with_error=sequence, **outputs)
        impossible = np.isneginf(outputs["log_predictive"])
        total = _sum_in_order(np.where(impossible, 0, outputs["log_predictive"]))
        return Score(total, len(rows), total / len(rows), **outputs,
                     impossible_observations=int(impossible.sum()),
                     sequences=1 if rows.sequences is None else len(rows.sequences),
                     standard_error=run.standard_error())

    def _log_predictive(self, Y: Any, lengths: Any, exposure: Any, last: bool, phase: int,
                        engine: dict, seed: int) -> np.ndarray:
        rows = self._rows(Y, lengths)
        found = np.empty(len(rows))
        self._run(rows, exposure, last, phase, engine, seed, False, log_predictive=found)
        return found

    def watch(self, Y: Any, *, alarms_per: str = "1000:1", every_row: bool = False,
              lengths: Any = None, exposure: Any = None, last: bool = False, phase: int = 0,
              seed: int = SEED, **engine: Any) -> list[dict]:
        """The rows of Y that deviate from the model; the same as `headwater watch`.

        `alarms_per` is the accepted rate of false alarms: "1000:1" is one in 1,000 rows. Each alarm
        is a dict as the command prints it, with the fields t (from 1), p, p_row, p_total,
        p_channels, total and channels. `channels` lists those with the smallest tail probabilities:
        name, index (channel, from 0), expected, seen, p, and rows, the number of rows that a silent
        channel has been silent. `every_row=True` returns every row; `alarm` says which are alarms.
        """
        rows = self._rows(Y, lengths)
        run, alarms = self._filter(last, phase, engine, seed), []
        for _, *block in checked_blocks(rows, exposure):
            alarms += run.watch(*block, alarms_per, every_row)
        names = self.names or [str(m + 1) for m in range(self.num_channels)]
        for channel in (channel for alarm in alarms for channel in alarm["channels"]):
            channel["name"] = names[channel["channel"]]
        return alarms

    def predict(self, Y: Any, *, lengths: Any = None, exposure: Any = None, last: bool = False,
                phase: int = 0, seed: int = SEED, **engine: Any) -> np.ndarray:
        """E[y_t | y_1..t-1], T x M; the same as `headwater score --predict`."""
        rows = self._rows(Y, lengths)
        predicted = np.empty(rows.shape)
        self._run(rows, exposure, last, phase, engine, seed, False, predicted=predicted)
        if exposure is not None:
            predicted *= Exposures(exposure, rows).block(0, len(rows))
        return rows.as_given(predicted)

    def forecast(self, Y: Any, horizon: int, *, quantiles: Optional[Sequence[float]] = None,
                 total: bool = False, draws: int = DRAWS, exposure: Any = None, last: bool = False,
                 phase: int = 0, seed: int = SEED,
                 **engine: Any) -> Union[np.ndarray, Forecast]:
        """Forecasts the observations after the T rows of Y; the same as `headwater forecast`.

        Without `quantiles`, returns the means E[y_T+h | y_1..T] for h = 1, ..., horizon: horizon x
        M. With `quantiles`, returns a `Forecast`; the quantiles are those of `draws` observations
        drawn at each step. `total=True` adds a channel, the sum of all others.
        """
        run = self._run(self._rows(Y), exposure, last, phase, engine, seed, False)
        return as_forecast(run.forecast, horizon, quantiles, total, draws, seed)

    def filter(self, *, last: bool = False, phase: int = 0, seed: int = SEED, **engine: Any
               ) -> Filter:
        """A `Filter`, which applies the model to a stream, one observation at a time.

        Its reports have the numbers of `headwater score --predict` and `headwater apply`.
        """
        if phase < 0:
            raise ValueError(f"phase={phase}: expected 0 or more")
        return Filter(self._core, last, engine, seed, phase)

    def report(self, path: Path, Y: Any = None, *, title: Optional[str] = None, truth: Any = None,
               times: Any = None, horizon: int = 0, lengths: Any = None, exposure: Any = None,
               last: bool = False, phase: int = 0, seed: int = SEED, **engine: Any) -> None:
        """Writes a page that shows the model, and how well it predicts Y: one HTML file.

        The same as `headwater report`. Without Y the page shows the model alone. `times` are the
        times of the rows of Y; by default, the index of a frame if it holds times. `truth` is the
        true basis, M x K, to show beside the estimate. `horizon` is the number of observations to
        forecast; 0 means one period of the season, or 24.
        """
        if not _core.has_pages():
            raise RuntimeError("this headwater was built without npm, and so without pages")
        stream, texts, after = None, [], None
        if Y is not None:
            rows = self._rows(Y, lengths)
            texts, after = row_times(Y if times is None else times, len(rows), times is not None)
            stream = _core.Reporter(self._core, last, engine, seed, phase, horizon, len(rows))
            for _, *block in checked_blocks(rows, exposure):
                stream.add(*block)
        elif times is not None:
            raise ValueError("times are given without Y")
        title = f"{self.prior}, {self.num_components} components" if title is None else title
        page = _core.report_page(self._core, stream, title, last, texts, after,
                                 None if truth is None else table(truth, "truth"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def _rows(self, Y: Any, lengths: Any = None) -> Rows:
        rows = Rows(Y, lengths=lengths)
        rows.match(self.names, "the model")
        if rows.shape[1] != self.num_channels:
            raise ValueError(f"Y has {rows.shape[1]} channels; the model has {self.num_channels}")
        if len(rows) == 0:
            raise ValueError("Y has no rows")
        return rows

    def _filter(self, last: bool, phase: int, engine: dict, seed: int, with_error: bool = False):
        if phase < 0:
            raise ValueError(f"phase={phase}: expected 0 or more")
        return _core.Filter(self._core, last, engine, seed, phase, with_error)

    def _run(self, rows: Rows, exposure: Any, last: bool, phase: int, engine: dict, seed: int,
             alone: bool, with_error: bool = False, **outputs):
        run = self._filter(last, phase, engine, seed, with_error)
        for first, *block in checked_blocks(rows, exposure):
            end = first + len(block[0])
            parts = {name: outputs[name][first:end] if name in outputs else None
                     for name in ("activations", "log_predictive", "predicted",
                                  "tail_probability", "p_total", "p_channels")}
            run.run(*block, **parts, alone=alone)
        return run

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "model.h5")
            self.save(name)
            with open(name, "rb") as file:
                return _model_from_bytes, (file.read(), self._prior)

    def _repr_html_(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return (f"Model({self.prior!r}, {self.num_channels} channels, {self.num_components} "
                f"components, {self.observations} observations)")


def _sum_in_order(values: np.ndarray) -> float:
    """The sum from first to last, as the command adds; NumPy's sum rounds differently."""
    return float(np.cumsum(values)[-1])


def _model_from_bytes(content: bytes, prior: Any) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "model.h5")
        with open(name, "wb") as file:
            file.write(content)
        return Model.load(name, prior)
