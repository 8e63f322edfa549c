"""A fit that takes in observations as they come."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from headwater import _core
from headwater._arrays import (FLOAT, Exposures, Rows, Sparse, column_names, encoded, observation,
                                order_by_name, parameter_tables, table)
from headwater._estimates import Estimates
from headwater._model import Model, Path, checked_path
from headwater._options import STREAM, Keywords, default_of
from headwater._progress import Progress
from headwater._rounds import Round, Statistics


class ConvergenceWarning(UserWarning):
    """A fit ended before it had converged."""


# Keywords that are rows of the table and no more; the others have a place of their own.
_OPTIONS = Keywords("Stream", [row for row in STREAM if row.name not in ("num_components", "prior")])


@_OPTIONS.document
class Stream(Estimates):
    """Learns the basis and the prior from observations as they come.

    Options have the defaults of `headwater fit`, and its names with underscores (`num_components`,
    `num_particles` and `num_threads` are `--components`, `--particles` and `--threads`). The same
    data, options and seed give the same bits.

    Parameters
    ----------
    num_components : int
        K, the number of sources. It may be left out with a prior of your own, which knows it.
    prior : str or object
        The law of the activations: a name from `list_priors()`, a prior of your own (`Prior`), or
        "auto", which chooses among several; `choice_of_prior` of the model says how clearly.
    set : dict
        Starting values of parameters: ``{"stay_off": 0.9}``; K numbers with `per_component`.
    {options}
    """

    def __init__(self, num_components: Optional[int] = None,
                 prior: Union[str, Any] = default_of("prior"), *,
                 set: Optional[dict[str, Any]] = None, **options: Any):
        options = _OPTIONS.complete(options)
        if isinstance(options["hold"], str):
            raise ValueError(f"hold={options['hold']!r}: expected a list of names")
        options["hold"] = [str(name) for name in options["hold"]]
        self._made_with = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in dict(num_components=num_components, prior=prior, set=set,
                                    **options).items()}
        told = {name: self._made_with[name] for name in options}
        if not isinstance(told["init"], str):
            told["init"] = table(told["init"], "init")
        if num_components is not None:
            told["num_components"] = self._made_with["num_components"]
        elif isinstance(prior, str):
            raise ValueError("num_components is missing: the number of sources")
        self._prior = None if isinstance(prior, str) else prior
        first = self._new_session(told)  # which checks the options
        restarts = told["restarts"]
        self._threads = told["num_threads"] if restarts > 1 else 1
        if restarts == 1:
            self._sessions = [first]
            return
        told["num_threads"] = 1
        self._sessions = [self._new_session({**told, "seed": told["seed"] + i})
                          for i in range(restarts)]

    def _new_session(self, told: dict[str, Any]) -> "_core.Session":
        return _core.Session(self._made_with["prior"], parameter_tables(self._made_with["set"]),
                             told["per_component"], told)

    # Observations in

    def update(self, y: Any, exposure: Any = None, new_sequence: bool = False) -> None:
        """Takes in one observation: M numbers, 0 or more, NaN where one is missing.

        `exposure` says how long, or how much of, each channel was observed; 1 if it is not given.
        `new_sequence` says that y begins a new sequence, such as a trial: its activations do not
        depend on earlier ones.
        """
        order = None
        if not (type(y) is np.ndarray and y.dtype is FLOAT and y.ndim == 1
                and y.flags.c_contiguous):
            order = self._take_names(column_names(y), "y")
            y = observation(y)
            if order is not None:
                y = y[order]
        if exposure is not None:
            named = column_names(exposure)
            if named:
                order = order_by_name(self.names, named, "exposure", "the stream")
            exposure = observation(exposure, "exposure")
            if order is not None:
                exposure = exposure[order]
        try:
            for session in self._sessions:
                session.update(y, exposure, new_sequence)
        except _core.InputError as error:
            raise ValueError(f"y: {error}") from None

    def update_many(self, Y: Any, *, lengths: Any = None, exposure: Any = None,
                    callback: Optional[Callable[["Stream"], Any]] = None, every: int = 1000,
                    verbose: bool = False, progress: bool = False) -> "Stream":
        """Takes in the rows of Y, in order.

        Y is T x M: a NumPy array of any numeric type and order, a masked array, a SciPy sparse
        matrix, or a pandas or polars frame. NaN, a masked cell or null is a missing cell.

        `exposure` is T x M, or T numbers for all channels: how long, or how much of, a channel was
        observed. Expected counts are multiplied by it; a cell with exposure 0 is missing.

        `lengths` are the lengths of the sequences that the rows consist of, one after another, as
        in hmmlearn. An array of three dimensions (S x T x M) has S sequences. The activations of
        each sequence begin anew. Without either, the rows continue the earlier ones.

        After every `every` rows, `callback(stream)` is called, and `verbose` prints a line to
        standard error. `progress` shows a tqdm bar. The stream stays usable after Ctrl-C or an
        exception of the callback; `observations` says how many rows were taken in.
        """
        if every < 1:
            raise ValueError(f"every={every}: expected 1 or more")
        rows = Rows(Y, lengths=lengths)
        rows.match(self.names, "the stream")
        seen = None if exposure is None else Exposures(exposure, rows)
        if rows.names and not self.names:
            self.names = rows.names
        watched = callback is not None or verbose or progress
        told = Progress(self, len(rows), callback, verbose, progress)
        try:
            for first, block in rows.blocks(every if watched else None, sparse=seen is None):
                begins = rows.begins(first, first + len(block))
                if isinstance(block, Sparse):
                    self._each(lambda session: session.update_sparse(
                        block.values, block.columns, block.begins, block.num_channels, begins))
                else:
                    part = None if seen is None else seen.block(first, first + len(block))
                    self._each(lambda session: session.update_rows(block, part, begins))
                told.show(len(block))
        except _core.InputError as error:
            raise ValueError(f"{rows.name}: {error}") from None
        finally:
            told.close()
        return self

    def finish(self) -> "Stream":
        """Ends the stream: the smoother takes in the observations that it still holds.

        No update can follow.
        """
        self._each(lambda session: session.finish())
        self._warn(self.model())
        return self

    @property
    def names(self) -> list[str]:
        """The names of the channels; empty if they have none. They can be set.

        They are the columns of the first frame. Columns of later frames, and cells of series, are
        put into the same order, with a warning; other names are an error.
        """
        return self._sessions[0].names

    @names.setter
    def names(self, names: Sequence[str]) -> None:
        try:
            for session in self._sessions:
                session.set_names(encoded(names))
        except _core.InputError as error:
            raise ValueError(f"names: {error}") from None

    def _take_names(self, found: list[str], subject: str) -> Optional[np.ndarray]:
        """Keeps the first names; returns the order of later ones, if it differs."""
        if not found:
            return None
        if not self.names:
            self.names = found
        return order_by_name(self.names, found, subject, "the stream")

    # Rounds whose sequences are elsewhere; headwater.dask uses them

    @property
    def wants_start(self) -> bool:
        """With `round`: whether the search for a start needs more sequences, by `update_many`."""
        return _core.wants_start(self._sessions[0])

    def begin_rounds(self) -> "Stream":
        """Finds the start from the sequences so far. Only statistics of rounds can follow.

        Rounds begin with the first sequence, so the sequences of the start take part again.
        """
        self._only("begin_rounds")
        _core.begin_rounds(self._sessions[0])
        return self

    def next_round(self) -> Round:
        """The parameters that the next `round` sequences start from."""
        self._only("next_round")
        return Round(self, *_core.round_of(self._sessions[0]))

    def statistics(self, Y: Any, index: Optional[int] = None, *, exposure: Any = None
                   ) -> Statistics:
        """The statistics of one sequence under the present estimate, for `take_in`.

        Y is T x M, or the name of a file. `index` is the place of the sequence among all, from 0;
        by default, that of the first sequence of the next round.
        """
        round = self.next_round()
        return round.statistics(Y, round.first if index is None else index, exposure=exposure)

    def take_in(self, statistics: Statistics) -> "Stream":
        """Takes in the merged statistics of a round, and makes its M-step."""
        self._only("take_in")
        _core.take_in(self._sessions[0], statistics._core)
        return self

    def _only(self, method: str) -> None:
        if len(self._sessions) > 1:
            raise ValueError(f"{method}() is for a stream without restarts")

    # Files and copies

    def save(self, path: Path) -> None:
        """Writes the model file that the command would write if the stream ended here.

        `load` continues from it. To continue bit for bit, use `save_checkpoint`.
        """
        self.ended().save(path)

    def save_checkpoint(self, path: Path) -> None:
        """Writes a checkpoint, from which the fit can continue bit for bit.

        `load` or `headwater fit --resume` reads it. Checkpoints are for online fits with a built-in
        prior; a stream with a prior of your own can be pickled instead.
        """
        if self._prior is not None:
            raise ValueError("a checkpoint names its prior; pickle a stream with one of your own")
        try:
            _core.save_checkpoint(self._sessions, os.fspath(path))
        except _core.InputError as error:
            raise OSError(str(error)) from None

    @classmethod
    def load(cls, path: Path, *arguments: Any, **options: Any) -> "Stream":
        """Continues from a model file or a checkpoint, written by the command or by a stream.

        A model file contains its options: ``Stream.load("model.h5")``. Further keywords are those
        of `continued`, and `prior` if the model has a prior of your own. A checkpoint needs the
        same options as before: ``Stream.load("fit.ckpt", 5, "gamma")``.
        """
        if _core.is_model_file(checked_path(path)):
            if arguments:
                raise TypeError("a model file contains its options; give keywords to change some")
            return cls.continued(Model.load(path, options.pop("prior", None)), **options)
        stream = cls(*arguments, **options)
        _core.load_checkpoint(stream._sessions, checked_path(path))
        return stream

    @classmethod
    def continued(cls, model: Model, *, follows_on: bool = True, forget: int = 0,
                  **options: Any) -> "Stream":
        """Goes on where the fit of a model ended; the same as `headwater fit --continue`.

        Estimate, statistics, averages, step sizes and options are taken from the model;
        `observations` and `log_likelihood` add up. `options` changes options of the run, such as
        ``step="constant:0.01"``. Options that define the model, such as its prior, cannot be
        changed.

        `follows_on=False` says that the next row does not follow the last one of the model:
        activations, levels and phase begin anew. `forget=T` goes on as if the model had seen only T
        observations, so that new ones weigh more.
        """
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(f"continued() got an unexpected keyword argument {name!r}")
        stream = cls.__new__(cls)
        stream._made_with = {"continued": dict(model=model, follows_on=follows_on, forget=forget,
                                               **options)}
        stream._prior = model._prior
        stream._threads = 1
        stream._sessions = [_core.continue_model(model._core, options, follows_on, forget)]
        return stream

    def __getstate__(self) -> dict[str, Any]:
        return {"made_with": self._made_with, "states": [s.state() for s in self._sessions]}

    @classmethod
    def _made(cls, made_with: dict[str, Any]) -> "Stream":
        if "continued" in made_with:
            return cls.continued(**made_with["continued"])
        return cls(**made_with)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(Stream._made(state["made_with"]).__dict__)
        for session, bits in zip(self._sessions, state["states"]):
            session.restore(bits)

    def copy(self) -> "Stream":
        """An independent stream that continues from here."""
        other = Stream.__new__(Stream)
        other.__dict__.update(self.__dict__, _sessions=[s.copy() for s in self._sessions])
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> "Stream":
        return self.copy()

    def __repr__(self) -> str:
        state = "finished, " if self._best.is_finished else ""
        return f"Stream({state}{self.observations} observations)"

    def _each(self, work: Callable[["_core.Session"], None]) -> None:
        if self._threads == 1:
            for session in self._sessions:
                work(session)
            return
        with ThreadPoolExecutor(self._threads) as threads:
            for done in [threads.submit(work, session) for session in self._sessions]:
                done.result()

    @staticmethod
    def _warn(model: Model) -> None:
        if model.method == "batch" and not model.converged:
            warnings.warn(f"stopped at the limit of {model.iterations} iterations",
                          ConvergenceWarning, stacklevel=3)
        elif model._core.has_hardly_moved:
            warnings.warn(f"only {model.iterations} M-steps in so short a stream; method='batch' "
                          "learns more from it", ConvergenceWarning, stacklevel=3)
