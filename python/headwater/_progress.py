"""Progress of a long call: a callback, a line on standard error, a tqdm bar."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional


class Progress:
    """Shows progress after each block of observations."""

    def __init__(self, stream: Any, total: int, callback: Optional[Callable[[Any], Any]],
                 verbose: bool, progress: bool):
        self._stream, self._callback, self._verbose = stream, callback, verbose
        self._bar = None
        if progress:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm: pip install tqdm") from None
            self._bar = tqdm(total=total, unit="obs")

    def show(self, count: int) -> None:
        if self._bar is not None:
            self._bar.update(count)
        if self._verbose:
            given = self._stream.observations
            mean = self._stream.log_likelihood / given
            print(f"headwater: {given:,} observations, log-likelihood {mean:.4f} an observation",
                  file=sys.stderr)
        if self._callback is not None:
            self._callback(self._stream)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
