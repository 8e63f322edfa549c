"""Streams drawn from a model."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

import numpy as np

from headwater import _core
from headwater._arrays import BLOCK, parameter_tables, table
from headwater._options import SEED


class Simulation(NamedTuple):
    """A simulated stream, with its activations and its basis."""

    observations: np.ndarray  #: T x M counts
    activations: np.ndarray  #: T x K: how much of each component was on at each time
    basis: np.ndarray  #: M x K: what each component adds to each channel


def simulate(prior: Union[str, Any] = "basis-selection", *, length: int,
             channels: Optional[int] = None, components: Optional[int] = None, basis: Any = None,
             scale: float = 10.0, set: Optional[dict] = None, per_component: bool = False,
             counts: str = "poisson", seed: int = SEED) -> Simulation:
    """Draws `length` observations, the same as `headwater simulate` with the same options.

    Give either a `basis` (M x K), or `channels` and `components` for a random basis with entries
    uniform on (0, scale). `set` gives parameters of the prior and of the law of the counts:
    ``set={"stay_off": 0.9}``, or ``counts="negative-binomial", set={"dispersion": 0.3}``.
    """
    if basis is None:
        if not channels or not components or channels < 1 or components < 1:
            raise ValueError("simulate needs a basis, or channels and components, both 1 or more")
        if not scale > 0:
            raise ValueError(f"scale={scale}: expected a positive number")
        basis = _core.random_basis(channels, components, scale, seed)
    else:
        basis = table(basis, "basis")
        for name, asked, found in (("channels", channels, basis.shape[0]),
                                   ("components", components, basis.shape[1])):
            if asked is not None and asked != found:
                raise ValueError(f"{name}={asked}: the basis has {found}")
        if not (np.isfinite(basis).all() and (basis >= 0).all()):
            raise ValueError("basis: expected finite numbers, 0 or more")
    if length < 1:
        raise ValueError(f"length={length}: expected 1 or more")
    simulator = _core.Simulator(prior, parameter_tables(set), per_component, basis, counts, seed)
    observations = np.empty((length, basis.shape[0]))
    activations = np.empty((length, basis.shape[1]))
    for first in range(0, length, BLOCK):
        simulator.fill(observations[first:first + BLOCK], activations[first:first + BLOCK])
    return Simulation(observations, activations, basis)
