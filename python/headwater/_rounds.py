"""Fits by rounds: statistics of sequences that start from the same parameters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from headwater import _core
from headwater._arrays import Exposures, Rows, Sparse

if TYPE_CHECKING:
    from headwater._stream import Stream


class Statistics:
    """The statistics of sequences of one round: what its M-step needs.

    Statistics of different sequences can be merged in any order: the places of the sequences fix the
    order of the sums, so the result has the same bytes. Statistics can be pickled.
    """

    def __init__(self, core: "_core.RoundStatistics"):
        self._core = core

    def merge(self, other: "Statistics") -> "Statistics":
        """The statistics of all sequences of both. Neither object is changed."""
        return Statistics(self._core.merged(other._core))

    @property
    def sequences(self) -> int:
        """Number of sequences."""
        return self._core.sequences

    @property
    def observations(self) -> int:
        """Number of observations."""
        return self._core.observations

    @property
    def log_likelihood(self) -> float:
        """Of these sequences, under the parameters that their round started from."""
        return self._core.log_likelihood

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistics):
            return NotImplemented
        return self._core.bytes() == other._core.bytes()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> bytes:
        return self._core.bytes()

    def __setstate__(self, state: bytes) -> None:
        self._core = _core.RoundStatistics.of_bytes(state)

    def __repr__(self) -> str:
        return f"Statistics({self.sequences} sequences, {self.observations} observations)"


class Round:
    """The parameters that the sequences of a round start from. It can be pickled."""

    def __init__(self, stream: "Stream", first: int, state: bytes):
        self._stream: Optional[Stream] = stream
        self._made_with = stream._made_with
        self._state = state
        self.first = first  #: the index of its first sequence among all, from 0

    def statistics(self, Y: Any, index: int, *, exposure: Any = None) -> Statistics:
        """The statistics of one sequence: T x M, as in `Stream.update_many`, or the name of a file.

        `index` is the place of the sequence among all, from 0.
        """
        if self._stream is None:
            from headwater._stream import Stream
            self._stream = Stream._made(self._made_with)
            self._stream.names = self._names
        rows = sequence_rows(Y, f"sequence {index + 1}")
        rows.match(self._stream.names, "the stream")
        return Statistics(self._computed(rows, index, exposure))

    def _computed(self, rows: Rows, index: int, exposure: Any) -> "_core.RoundStatistics":
        session = self._stream._sessions[0]
        try:
            if exposure is None and hasattr(rows._data, "indptr"):
                block: Sparse = rows.sparse_block(0, len(rows))
                return _core.statistics_of_sparse(session, self._state, block.values, block.columns,
                                                  block.begins, block.num_channels, index)
            seen = None if exposure is None else Exposures(exposure, rows).block(0, len(rows))
            return _core.statistics_of_rows(session, self._state, rows.all(), seen, index)
        except _core.InputError as error:
            raise ValueError(f"{rows.name}: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        names = self._stream.names if self._stream is not None else self._names
        return {"made_with": self._made_with, "state": self._state, "first": self.first,
                "names": names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._made_with, self._state = state["made_with"], state["state"]
        self.first, self._names = state["first"], state["names"]
        self._stream = None

    def __repr__(self) -> str:
        return f"Round(from sequence {self.first})"


def sequence_rows(Y: Any, name: str) -> Rows:
    """The rows of one sequence, from data or from the name of a file."""
    if not isinstance(Y, (str, os.PathLike)):
        rows = Rows(Y, name)
        if rows.cube is not None:
            raise ValueError(f"{name} has 3 dimensions; expected 2, one observation a row")
        return rows
    try:
        names, table = _core.read_sequence(os.fspath(Y))
    except _core.InputError as error:
        raise ValueError(str(error)) from None
    rows = Rows(table, os.fspath(Y))
    rows.names = names
    return rows
