"""Times of rows, for pages."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

Times = tuple[list[str], Optional[Callable[[int], str]]]


def row_times(given: Any, count: int, is_asked_for: bool) -> Times:
    """The times of `count` rows as texts, and how times after the last one are written.

    `given` is a sequence of times or, if times were not asked for, data that may have an index of
    them; without one there are no texts. Times ahead are known where rows are equally far apart.
    """
    if not is_asked_for:
        index = getattr(given, "index", None)
        if getattr(getattr(index, "dtype", None), "kind", "") != "M":
            return [], None
        given = index
    if len(given) != count:
        raise ValueError(f"times has {len(given)} values; Y has {count} rows")
    try:
        stamps = np.asarray(given, dtype="datetime64[us]")
    except (TypeError, ValueError):
        return [str(time) for time in given], None
    steps = np.diff(stamps)
    if len(steps) == 0 or np.any(steps != steps[0]):
        return _texts(stamps), None
    return _texts(stamps), lambda ahead: _texts(stamps[-1:] + ahead * steps[:1])[0]


def _texts(stamps: np.ndarray) -> list[str]:
    """ISO 8601, to the second where that says it all."""
    whole = stamps.astype("datetime64[s]")
    unit = "s" if np.array_equal(whole, stamps) else "us"
    return [str(text) for text in np.datetime_as_string(stamps, unit=unit)]
