"""Which of several models predicts data best."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple, Sequence, Union

import numpy as np

from headwater import _core
from headwater._model import Model, Path
from headwater._options import SEED


class ComparedModel(NamedTuple):
    """One row of a `Comparison`."""

    name: str
    prior: str
    components: int
    counts: str  #: the law of the counts
    periods: tuple[int, ...]
    per_observation: float  #: mean of log p(y_t | y_1..t-1), in nats
    per_cell: float  #: the same divided by the number of channels
    difference: float  #: from the best model, in nats an observation; 0 for that model
    standard_error: float  #: of the difference; infinite if there are too few observations
    impossible_observations: int


class Comparison:
    """How well several models predict the same observations, one step ahead.

    Printing it shows the table of `headwater compare`.
    """

    def __init__(self, models: Sequence[ComparedModel], observations: int, left_out: int, best: str,
                 verdict: str, descriptions: Sequence[str]):
        self.models = list(models)  #: a `ComparedModel` for each
        self.observations = observations  #: number of observations that were compared
        self.left_out = left_out  #: number of those that some model calls impossible
        self.best = best  #: the name of the model that predicts best
        self.verdict = verdict  #: the result in a sentence
        self._descriptions = list(descriptions)

    def __repr__(self) -> str:
        lines = [f"{'log p':>12} {'difference':>12} {'std. error':>10}  model"]
        for row, description in zip(self.models, self._descriptions):
            differs = (f"{'best':>12} {'':>10}" if row.name == self.best else
                       f"{row.difference:>12.4g} {row.standard_error:>10.2g}")
            lines.append(f"{row.per_observation:>12.4f} {differs}  {row.name}: {description}")
        lines.append(f"log p: mean over {self.observations:,} observations of "
                     "log p(y_t | y_1..t-1)")
        lines += [f"{row.name}: {row.impossible_observations:,} observations were impossible; they "
                  "are left out for all models" for row in self.models
                  if row.impossible_observations > 0]
        return "\n".join([*lines, self.verdict])


def compare(models: Union[Sequence[Union[Model, Path]], Mapping[str, Union[Model, Path]]], Y: Any, *,
            from_row: int = 1, lengths: Any = None, exposure: Any = None, last: bool = False,
            phase: int = 0, seed: int = SEED, **engine: Any) -> Comparison:
    """Finds which of several models predicts Y best, and how clearly, as `headwater compare` does.

    `models` are models or names of model files, or a dict that gives each its name in the result.
    None of them should have been fitted to Y. Predictions from row `from_row` on (counted from 1)
    are compared; the models filter the earlier rows too. Further options are those of
    `Model.score`.
    """
    named = _named(models)
    if len(named) < 2:
        raise ValueError(f"expected two models or more, found {len(named)}")
    if from_row < 1:
        raise ValueError(f"from_row={from_row}: expected 1 or more")
    columns = [model._log_predictive(Y, lengths, exposure, last, phase, engine, seed)
               for model in named.values()]
    if len(columns[0]) < from_row:
        raise ValueError(f"Y has {len(columns[0])} rows; from_row={from_row} leaves none")
    scored = np.ascontiguousarray(np.stack(columns, axis=1)[from_row - 1:])
    observations, left_out, best, rows, descriptions, verdict = _core.compare_scores(
        scored, list(named), [model._core for model in named.values()])
    table = [ComparedModel(name, model.prior, model.num_components, model.counts["law"],
                           tuple(model.periods), mean, mean / model.num_channels, difference, error,
                           int(impossible))
             for (name, model), (mean, difference, error), impossible in
             zip(named.items(), rows, np.isneginf(scored).sum(axis=0))]
    return Comparison(table, observations, left_out, table[best].name, verdict, descriptions)


def _named(models: Any) -> dict[str, Model]:
    if not isinstance(models, Mapping):
        names = [f"model {i}" if isinstance(model, Model) else os.fspath(model)
                 for i, model in enumerate(models, start=1)]
        if len(set(names)) < len(names):
            raise ValueError("a model file is named twice")
        models = dict(zip(names, models))
    return {str(name): model if isinstance(model, Model) else Model.load(model)
            for name, model in models.items()}
