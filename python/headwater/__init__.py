"""Finds the sources of a stream of counts while the stream flows.

    import headwater
    stream = headwater.Stream(num_components=5, prior="basis-selection")
    stream.update_many(Y)      # T x M: one observation a row
    stream.finish()
    stream.basis               # M x K: what each source adds to each channel

`OnlineNMF` is the same as a scikit-learn estimator. `Model` is the result of a fit. `simulate`
draws streams to experiment with. `compare` says which of several models predicts best. `plot` draws
results. `dask` distributes fits over machines.
"""

from typing import TYPE_CHECKING

from headwater import _core
from headwater._compare import ComparedModel, Comparison, compare
from headwater._filter import Filter, FilterReport
from headwater._forecast import Forecast
from headwater._model import Model
from headwater._priors import Prior, check_prior, list_priors
from headwater._results import PriorScore, Score, Stability, StandardErrors, Surprise
from headwater._rounds import Round, Statistics
from headwater._simulate import Simulation, simulate
from headwater._stream import ConvergenceWarning, Stream

if TYPE_CHECKING:
    from headwater import dask, plot
    from headwater._nmf import OnlineNMF

__version__ = _core.version()
__all__ = ["ComparedModel", "Comparison", "ConvergenceWarning", "Filter", "FilterReport", "Forecast",
           "Model", "OnlineNMF", "Prior", "PriorScore", "Round", "Score", "Simulation", "Stability",
           "StandardErrors", "Statistics", "Stream", "Surprise", "check_prior", "compare", "dask",
           "list_priors", "plot", "simulate"]


# What needs scikit-learn, matplotlib or Dask is imported when it is asked for.
def __getattr__(name: str):
    if name == "OnlineNMF":
        from headwater._nmf import OnlineNMF
        return OnlineNMF
    if name in ("plot", "dask"):
        import importlib
        return importlib.import_module(f"headwater.{name}")
    raise AttributeError(f"module 'headwater' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
