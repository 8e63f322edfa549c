"""The scikit-learn estimator."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from headwater._model import Model
from headwater._options import ENGINE, STREAM, Keywords, default_of
from headwater._stream import ConvergenceWarning, Stream

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6 it was a method

    def validate_data(estimator, X, **options):
        finite = options.pop("ensure_all_finite", True)
        return estimator._validate_data(X, force_all_finite=finite, **options)


# Of Stream, what this estimator passes on under the same name; and of that, what engines have.
_PASSED_ON = Keywords("OnlineNMF", [row for row in STREAM if row.name in (
    "counts", "dispersion", "period", "phase", "hold", "init", "per_component", "background",
    "restarts", "method",
    "iterations", "tolerance", "engine", "num_particles", "smoother", "lag", "step", "burn_in",
    "average", "num_threads")])
_ENGINE = [row.name for row in ENGINE if row.name in _PASSED_ON]


class _Fit:
    """A stream, and the model that it would end with, computed on demand."""

    def __init__(self, stream: Stream):
        self.stream: Optional[Stream] = stream
        self._model: Optional[Model] = None

    def update(self, X: Any) -> None:
        self._model = None
        self.stream.update_many(X)

    def __getstate__(self) -> dict[str, Any]:
        # Batch EM keeps no state to go on with; what it has found is enough.
        is_batch = self.model.method == "batch"
        return {"stream": None if is_batch else self.stream, "_model": self.model}

    @property
    def model(self) -> Model:
        if self._model is None:
            self._model = self.stream.ended()
        return self._model


@_PASSED_ON.document
class OnlineNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Nonnegative matrix factorisation whose activations are a hidden Markov process.

    The rows of X are counts with means ``activations @ components_``, and the activations follow
    `prior`. The estimator learns in one pass (`method="online"`), or by EM on all rows
    (`method="batch"`), which is better for short records.

    Parameters
    ----------
    n_components : int, default=5
        The number of sources.
    prior : str or object, default="basis-selection"
        The law of the activations, as for `Stream`: "basis-selection" for sources that are off or
        on, "gamma" or "log-gaussian" for positive sources that drift, "independent" for the
        classical model without memory, "auto" for the one that predicts best.
    sequence : bool, default=False
        Whether `transform` and `score` treat the rows of X as a sequence in time, unless their own
        argument says otherwise. By default each row is independent, as scikit-learn expects.
    random_state : int, RandomState or None, default=None
        An int is the `seed` of `Stream` and of the command.
    set : dict, default=None
        Starting values of parameters: ``{"stay_off": 0.9}``.
    {option_names}
        As for `Stream`.

    Attributes
    ----------
    components_ : array, n_components x n_features
        What each component adds to each feature: the transpose of the basis.
    background_ : array of n_features, or None
        The component that is always on, if there is one.
    parameters_ : dict
        The learned parameters of the prior.
    model_ : Model
        The fitted model.
    n_components_, n_features_in_, feature_names_in_, n_steps_
        Sizes; n_steps_ is the number of rows seen.
    """

    def __init__(self, n_components: int = 5, prior: Any = default_of("prior"), *,
                 set: Optional[dict] = None, sequence: bool = False, random_state: Any = None,
                 **options: Any):
        self.n_components = n_components
        self.prior = prior
        self.set = set
        self.sequence = sequence
        self.random_state = random_state
        for name, value in _PASSED_ON.complete(options).items():
            setattr(self, name, value)

    # Learning

    def fit(self, X: Any, y: Any = None) -> "OnlineNMF":
        """Learns from the rows of X, in order; forgets what was learned before."""
        X = self._checked(X, reset=True)
        self._fit = _Fit(self._new_stream())
        self._fit.update(X)
        if self.method == "batch":
            self._fit.stream.finish()
        else:
            Stream._warn(self._fit.model)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "OnlineNMF":
        """Learns from the rows of X as the continuation of all rows before."""
        if self.method == "batch":
            raise ValueError("method='batch' needs all rows at once; partial_fit needs 'online'")
        is_first = not hasattr(self, "_fit")
        X = self._checked(X, reset=is_first)
        if is_first:
            self._fit = _Fit(self._new_stream())
        self._fit.update(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> np.ndarray:
        """Learns from X and returns its activations."""
        return self.fit(X, y).transform(X, **options)

    # At work

    def transform(self, X: Any, sequence: Optional[bool] = None) -> np.ndarray:
        """Activations, n_samples x n_components.

        Each row is independent, or with `sequence=True` follows the rows before it. None: as the
        estimator's own `sequence` says.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        return self.model_.apply(X, sequence=self._as_sequence(sequence), **self._engine())

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The expected counts given the activations X: n_samples x n_features.

        Under a hurdle law, these are the rates of the events behind the counts.
        """
        check_is_fitted(self)
        expected = np.asarray(X, dtype=float) @ self.components_
        return expected if self.background_ is None else expected + self.background_

    def score(self, X: Any, y: Any = None, sequence: Optional[bool] = None) -> float:
        """Mean log-likelihood of a row: of independent rows, or one step ahead in a sequence."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        found = self.model_.score(X, sequence=self._as_sequence(sequence), **self._engine())
        return found.per_observation

    # What was learned

    @property
    def model_(self) -> Model:
        return self._learned().model

    @property
    def components_(self) -> np.ndarray:
        return np.ascontiguousarray(self.model_.basis.T)

    @property
    def background_(self) -> Optional[np.ndarray]:
        return self.model_.background

    @property
    def parameters_(self) -> dict[str, Any]:
        return self.model_.parameters

    @property
    def n_components_(self) -> int:
        return self.model_.num_components

    @property
    def n_steps_(self) -> int:
        fit = self._learned()
        return fit.stream.observations if fit.stream else fit.model.observations

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _learned(self) -> _Fit:
        if "_fit" not in self.__dict__:
            raise AttributeError("this OnlineNMF is not fitted yet")
        return self._fit

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in self.__dict__

    # scikit-learn's conventions

    def _checked(self, X: Any, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse=("csr", "csc"), dtype="numeric",
                          ensure_all_finite="allow-nan")
        stored = X.data if hasattr(X, "tocsr") else X
        if stored.size and stored.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        with warnings.catch_warnings(), contextlib.suppress(TypeError):
            warnings.simplefilter("ignore", RuntimeWarning)  # all NaN
            if stored.size and np.nanmin(stored) < 0:
                raise ValueError("Negative values in data passed to OnlineNMF (input X)")
        return X

    def _new_stream(self) -> Stream:
        options = {name: getattr(self, name) for name in _PASSED_ON}
        stream = Stream(self.n_components, self.prior, set=self.set, seed=self._seed(), **options)
        stream.names = getattr(self, "feature_names_in_", ())
        return stream

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _as_sequence(self, asked: Optional[bool]) -> bool:
        return self.sequence if asked is None else asked

    def _engine(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _ENGINE}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _more_tags(self):  # before 1.6
        return {"requires_positive_X": True, "allow_nan": True}
