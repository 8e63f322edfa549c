"""Turns observations of any form into contiguous rows of doubles, a block at a time."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Iterator, Optional

import numpy as np

from headwater import _core

FLOAT = np.dtype(np.float64)
# Rows that are converted at a time: memory for a copy is bounded, whatever the length.
BLOCK = 4096


def _kind(data: Any) -> str:
    """The package that the data's class comes from: 'pandas', 'polars', 'scipy', ..."""
    return type(data).__module__.partition(".")[0]


def column_names(data: Any) -> list[str]:
    """The names that a frame's columns, or a pandas series' cells, have; none if only numbered."""
    if _kind(data) == "pandas":
        labels = data.columns if hasattr(data, "columns") else data.index
        if type(labels).__name__ == "RangeIndex":
            return []
    elif _kind(data) == "polars" and hasattr(data, "columns"):
        labels = data.columns
    else:
        return []
    return [label if isinstance(label, str) else str(label) for label in labels]


def encoded(names: Any) -> list[bytes]:
    """Names as the core has them; what was no UTF-8 there comes back as it was."""
    return [str(name).encode("utf-8", "surrogateescape") for name in names]


def order_by_name(expected: list[str], found: list[str], subject: str, model: str
                  ) -> Optional[np.ndarray]:
    """The columns `found` in the order of `expected`; None if they have that order."""
    if not expected or not found or expected == found:
        return None
    try:
        order = _core.order_by_name(encoded(expected), encoded(found), subject, model)
    except _core.InputError as error:
        raise ValueError(str(error)) from None
    warnings.warn(f"{subject}: its channels are in another order than those of {model}, and are "
                  "put into that order", stacklevel=4)
    return np.asarray(order, dtype=np.int64)


def _numbers(values: Any, name: str) -> np.ndarray:
    """An array of doubles, with NaN where a cell is masked or missing."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(FLOAT), np.nan)
    array = np.asarray(values)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name}: expected numbers, found an array of {array.dtype}")
    try:
        return np.ascontiguousarray(array, dtype=FLOAT)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected numbers: {error}") from None


def observation(y: Any, name: str = "y") -> np.ndarray:
    """One observation: M numbers."""
    if hasattr(y, "toarray"):  # sparse
        y = y.toarray()
        if y.ndim == 2 and y.shape[0] == 1:
            y = y[0]
    elif _kind(y) == "pandas":
        y = y.to_numpy(dtype=FLOAT, na_value=np.nan)
    array = _numbers(y, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; expected 1, a number for each "
                         "channel (update_many takes several observations)")
    return array


@dataclass
class Sparse:
    """Rows of a sparse matrix: values and columns of the entries, row by row, and where rows begin."""

    values: np.ndarray
    columns: np.ndarray
    begins: np.ndarray
    num_channels: int

    def __len__(self) -> int:
        return len(self.begins) - 1


class Rows:
    """T observations of M channels, in blocks; only one block at a time is converted.

    `lengths` says how long the sequences are that the rows consist of. An array of three dimensions
    has sequences of equal length: S x T x M.
    """

    def __init__(self, data: Any, name: str = "Y", lengths: Any = None):
        self.name = name
        self.cube: Optional[tuple[int, int]] = None  # S and T of an array of three dimensions
        if getattr(data, "ndim", 2) == 3 or (isinstance(data, (list, tuple)) and np.ndim(data) == 3):
            if lengths is not None:
                raise ValueError(f"{name} has 3 dimensions, and lengths are given too")
            data = np.asarray(data) if not isinstance(data, np.ma.MaskedArray) else data
            self.cube = (int(data.shape[0]), int(data.shape[1]))
            lengths = np.full(self.cube[0], self.cube[1])
            data = data.reshape(-1, data.shape[2])
        self.names = column_names(data)  # of the channels; none if the data have none
        self.order: Optional[np.ndarray] = None  # of the columns, if it is not that of the channels
        kind = _kind(data)
        if kind in ("pandas", "polars") and hasattr(data, "columns"):
            pass
        elif hasattr(data, "tocsr"):  # SciPy's sparse matrices and arrays
            data = data.tocsr()
        elif not isinstance(data, np.ndarray):
            data = np.asarray(data)
        shape = data.shape
        if len(shape) != 2:
            dimensions = "1 dimension" if len(shape) == 1 else f"{len(shape)} dimensions"
            raise ValueError(f"{name} has {dimensions}; expected 2: one observation a row, or 3: "
                             "sequences of them")
        self._data, self._kind = data, kind
        self.shape = (int(shape[0]), int(shape[1]))
        self.sequences = None if lengths is None else self._begins(lengths)

    def _begins(self, lengths: Any) -> np.ndarray:
        """The rows at which sequences of these lengths begin."""
        array = np.asarray(lengths)
        if array.ndim != 1 or array.dtype.kind not in "iu" or np.any(array < 1):
            raise ValueError("lengths: expected a list of whole numbers, 1 or more")
        if array.sum() != self.shape[0]:
            raise ValueError(f"lengths add up to {array.sum()}; {self.name} has {self.shape[0]} "
                             "rows")
        return np.concatenate([[0], np.cumsum(array)[:-1]]).astype(np.int64)

    def begins(self, first: int, last: int) -> Optional[np.ndarray]:
        """Where sequences begin among these rows, counted from the first of them."""
        if self.sequences is None:
            return None
        low, high = np.searchsorted(self.sequences, [first, last])
        return np.ascontiguousarray(self.sequences[low:high] - first)

    def as_given(self, table: np.ndarray) -> np.ndarray:
        """A table with a row for each observation, in the shape of an array of sequences."""
        return table if self.cube is None else table.reshape(*self.cube, -1)

    def __len__(self) -> int:
        return self.shape[0]

    def match(self, names: list[str], model: str) -> None:
        """Puts columns that have names into the order of these, which `model` has."""
        self.order = order_by_name(names, self.names, self.name, model)
        if names:
            self.names = names

    def block(self, first: int, last: int) -> np.ndarray:
        data = self._data
        if self._kind == "pandas":
            try:
                rows = data.iloc[first:last].to_numpy(dtype=FLOAT, na_value=np.nan)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self.name}: expected numbers: {error}") from None
        elif self._kind == "polars":
            rows = data.slice(first, last - first).to_numpy()
        elif hasattr(data, "toarray"):
            rows = data[first:last].toarray()
        else:
            rows = data[first:last]
        numbers = _numbers(rows, self.name)
        return numbers if self.order is None else np.ascontiguousarray(numbers[:, self.order])

    def sparse_block(self, first: int, last: int) -> Sparse:
        part = self._data[first:last]
        part.sum_duplicates()  # and sorts the columns of each row
        return Sparse(_numbers(part.data, self.name), part.indices.astype(np.int64),
                      part.indptr.astype(np.int64), self.shape[1])

    def blocks(self, every: Optional[int] = None, sparse: bool = False
               ) -> Iterator[tuple[int, Any]]:
        """Pairs (index of the first row, block); blocks also end at multiples of `every`.

        With `sparse=True` the blocks of a sparse matrix are `Sparse`, and never made dense.
        """
        take = self.sparse_block if sparse and hasattr(self._data, "indptr") else self.block
        first = 0
        while first < len(self):
            last = min(first + BLOCK, len(self))
            if every:
                last = min(last, (first // every + 1) * every)
            yield first, take(first, last)
            first = last

    def all(self) -> np.ndarray:
        return self.block(0, len(self))


class Exposures:
    """How long, or how much of, each channel was observed: T x M, or T for all channels."""

    def __init__(self, exposure: Any, rows: Rows):
        array = exposure
        if np.ndim(exposure) == 1 and not hasattr(exposure, "tocsr"):
            array = np.asarray(exposure)[:, None]
        self._rows = Rows(array, "exposure")
        self._channels = rows.shape[1]
        if self._rows.shape not in (rows.shape, (rows.shape[0], 1)):
            raise ValueError(f"exposure has shape {np.shape(exposure)}; expected {rows.shape}, or "
                             f"({rows.shape[0]},) for all channels")
        if 1 < self._rows.shape[1] == self._channels:
            if self._rows.names and rows.names:
                self._rows.match(rows.names, rows.name)
            else:
                self._rows.order = rows.order

    def block(self, first: int, last: int) -> np.ndarray:
        block = self._rows.block(first, last)
        return np.ascontiguousarray(np.broadcast_to(block, (len(block), self._channels)))


def table(values: Any, name: str) -> np.ndarray:
    """A small matrix of doubles."""
    return Rows(values, name).all()


def parameter_tables(values: Optional[dict], name: str = "set") -> dict[str, np.ndarray]:
    """Parameters by name. Each is a number, a column with one number a component, or a table."""
    tables = {}
    for key, value in (values or {}).items():
        array = _numbers(value, f"{name}[{key!r}]")
        if array.ndim > 2:
            raise ValueError(f"{name}[{key!r}] has {array.ndim} dimensions; expected at most 2")
        tables[str(key)] = array if array.ndim == 2 else array.reshape(-1, 1)
    return tables


def masked(block: np.ndarray, exposures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The block with NaN where the exposure is 0, and the exposures, checked."""
    if not (np.isfinite(exposures).all() and (exposures >= 0).all()):
        raise ValueError("exposure: expected finite numbers, 0 or more")
    return np.where(exposures == 0, np.nan, block), exposures


def checked_blocks(rows: Rows, exposure: Any) -> Iterator[tuple]:
    """For each block of rows: the number of its first one, from 0, the block, its exposures or None,
    and where sequences begin in it."""
    seen = None if exposure is None else Exposures(exposure, rows)
    for first, block in rows.blocks():
        if np.any(block < 0) or np.any(np.isinf(block)):
            raise ValueError(f"{rows.name}: rows {first} to {first + len(block) - 1} have a value "
                             "that is negative or infinite")
        end, exposures = first + len(block), None
        if seen is not None:
            block, exposures = masked(block, seen.block(first, end))
        yield first, block, exposures, rows.begins(first, end)
