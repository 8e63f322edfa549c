"""Pictures of results; needs matplotlib.

Each function draws on the axes that it is given, or on new ones, and returns them.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise ImportError("headwater.plot needs matplotlib: pip install matplotlib") from None

from headwater._model import Model

_ESTIMATE, _TRUTH = "C0", "0.25"


def _model(given: Any) -> Model:
    """The model of a Model, a Stream or an OnlineNMF."""
    if isinstance(given, Model):
        return given
    if hasattr(given, "model_"):
        return given.model_
    if hasattr(given, "model"):
        return given.model()
    raise ValueError(f"expected a Model, a Stream or an OnlineNMF, found {type(given).__name__}")


def _in_order_of(truth: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The column of the basis that matches each column of the truth: components have no order."""
    from scipy.optimize import linear_sum_assignment
    cost = ((truth[:, :, None] - basis[:, None, :]) ** 2).sum(axis=0)
    return linear_sum_assignment(cost)[1]


def _checked_truth(truth: Any, shape: tuple) -> np.ndarray:
    truth = np.asarray(truth, dtype=float)
    if truth.shape != shape:
        raise ValueError(f"truth has shape {truth.shape}; the basis has {shape}")
    return truth


def basis(model: Any, *, channels: Optional[Sequence[str]] = None, errors: bool = False,
          truth: Any = None, ax: Any = None, axes: Any = None) -> Any:
    """Draws the basis as an image: a row for each channel, a column for each component.

    `model` may also be an M x K array. `errors=True` draws bars instead, a panel for each component,
    with whiskers of two standard errors; the model needs standard_errors=True. `truth`, M x K, is
    drawn as a line in each bar, and components are put into its order. The panels are drawn on
    `axes`, or on new ones, and their axes are returned.
    """
    if errors:
        # A stream knows those of the estimate so far, its model only those of the end.
        known = model if hasattr(model, "standard_errors") else _model(model)
        return _basis_with_errors(_model(model).basis, known.standard_errors, channels, truth, axes)
    if truth is not None:
        raise ValueError("truth is drawn with errors=True")
    values = model if isinstance(model, np.ndarray) else _model(model).basis
    if ax is None:
        height = min(max(2.5, 0.3 * len(values) + 1), 10)
        _, ax = plt.subplots(figsize=(max(3.0, 0.6 * values.shape[1] + 1.5), height),
                             layout="constrained")
    image = ax.imshow(values, aspect="auto", interpolation="nearest", cmap="viridis", vmin=0)
    ax.figure.colorbar(image, ax=ax, label="counts")
    ax.set_xticks(range(values.shape[1]), [str(k + 1) for k in range(values.shape[1])])
    ax.set_xlabel("component")
    if channels is not None:
        ax.set_yticks(range(len(values)), list(channels))
    elif len(values) <= 20:
        ax.set_yticks(range(len(values)), [str(m + 1) for m in range(len(values))])
    ax.set_ylabel("channel")
    return ax


def _basis_with_errors(values: np.ndarray, found: Any, channels: Optional[Sequence[str]],
                       truth: Any, axes: Any) -> np.ndarray:
    if found is None:
        raise ValueError("the model has no standard errors: fit with standard_errors=True, and a "
                         "stream that is long enough")
    spread = 2 * found.basis
    num_channels, num_components = values.shape
    order = np.arange(num_components)
    if truth is not None:
        truth = _checked_truth(truth, values.shape)
        order = _in_order_of(truth, values)
    if axes is None:
        _, axes = plt.subplots(num_components, 1, sharex=True, squeeze=False,
                               figsize=(min(max(3.0, 0.35 * num_channels + 1), 12),
                                        1.1 * num_components + 0.8), layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(num_components)
    at = np.arange(num_channels)
    for k, ax in enumerate(axes):
        column, error = values[:, order[k]], spread[:, order[k]]
        # An entry cannot be negative, so a whisker ends at 0.
        ax.bar(at, column, color=_ESTIMATE, alpha=0.5, width=0.8)
        ax.errorbar(at, column, yerr=[np.minimum(error, column), error], fmt="none", ecolor=_ESTIMATE,
                    elinewidth=1.2, capsize=2)
        if truth is not None:
            ax.hlines(truth[:, k], at - 0.4, at + 0.4, color=_TRUTH, lw=1)
        ax.set_ylim(bottom=0)
        ax.set_ylabel(str(k + 1), rotation=0, ha="right", va="center")
        ax.tick_params(labelsize=7)
    if channels is not None:
        axes[-1].set_xticks(at, list(channels), rotation=90)
    elif num_channels <= 30:
        axes[-1].set_xticks(at, [str(m + 1) for m in at])
    axes[0].set_title("each component's column, ± two standard errors", fontsize=9)
    axes[-1].set_xlabel("channel")
    return axes


def traces(model: Any, *, truth: Any = None, last: bool = False,
           channels: Optional[Sequence[int]] = None, axes: Any = None) -> np.ndarray:
    """Draws how each entry of the basis developed: channels down, components across.

    If an M x K basis `truth` is given, components are put into its order, and its entries are drawn
    as lines. `channels` chooses rows (from 0); by default the first twelve are shown.
    """
    model = _model(model)
    columns = model.trace(last)
    found = model.last_basis if last else model.basis
    if "basis_1_1" not in columns:
        raise ValueError(f"the trace of a basis of {found.size:,} entries has none of them")
    num_channels, num_components = found.shape
    order = np.arange(num_components)
    if truth is not None:
        truth = _checked_truth(truth, found.shape)
        order = _in_order_of(truth, found)
    rows = list(range(min(num_channels, 12)) if channels is None else channels)
    if axes is None:
        _, axes = plt.subplots(len(rows), num_components, sharex=True, squeeze=False,
                               figsize=(1.7 * num_components + 0.6, 1.1 * len(rows) + 0.6),
                               layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(len(rows), num_components)
    for i, m in enumerate(rows):
        for k in range(num_components):
            ax = axes[i, k]
            values = columns[f"basis_{m + 1}_{order[k] + 1}"]
            ax.plot(columns["t"], values, color=_ESTIMATE, lw=1)
            top = values.max()
            if truth is not None:
                ax.axhline(truth[m, k], color=_TRUTH, lw=0.8, ls="--")
                top = max(top, truth[m, k])
            ax.set_ylim(0, 1.2 * top if top > 0 else 1)
            ax.tick_params(labelsize=6)
            if i == 0:
                ax.set_title(f"component {k + 1}", fontsize=8)
            if k == 0:
                ax.set_ylabel(f"channel {m + 1}", fontsize=7)
            if i == len(rows) - 1:
                ax.set_xlabel("iteration" if model.method == "batch" else "t", fontsize=7)
    return axes


def activations(x: Any, *, times: Any = None, truth: Any = None, axes: Any = None) -> np.ndarray:
    """Draws activations (T x K) over time, a panel for each component; `truth` (T x K) behind."""
    x = np.asarray(x, dtype=float)
    if x.ndim != 2:
        raise ValueError(f"x has {x.ndim} dimensions; expected 2: T x K activations")
    times = np.arange(1, len(x) + 1) if times is None else times
    if axes is None:
        _, axes = plt.subplots(x.shape[1], 1, sharex=True, squeeze=False,
                               figsize=(7, 0.8 * x.shape[1] + 0.7), layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(x.shape[1])
    for k, ax in enumerate(axes):
        if truth is not None:
            ax.fill_between(times, np.asarray(truth)[:, k], step="mid", color="0.85", lw=0)
        ax.plot(times, x[:, k], color=_ESTIMATE, lw=1, drawstyle="steps-mid")
        ax.set_ylim(bottom=0)
        ax.set_ylabel(str(k + 1), rotation=0, ha="right", va="center")
        ax.tick_params(labelsize=7)
    axes[0].set_title("activation of each component", fontsize=9)
    axes[-1].set_xlabel("t")
    return axes


def diagnostics(model: Any, *, last: bool = False, axes: Any = None) -> np.ndarray:
    """Draws whether a fit has converged: mean log-likelihood, and the prior's parameters."""
    model = _model(model)
    columns = model.trace(last)
    t = columns["t"]
    names = [name for name in columns
             if name not in ("t", "log_likelihood") and not name.startswith(("basis_",
                                                                             "background_"))]
    if axes is None:
        _, axes = plt.subplots(2 if names else 1, 1, sharex=True, squeeze=False,
                               figsize=(6, 4 if names else 2.5), layout="constrained")
    axes = np.asarray(axes, dtype=object).ravel()
    if model.method == "batch":
        axes[0].plot(t, columns["log_likelihood"], color=_ESTIMATE)
        axes[0].set_ylabel("log-likelihood")
    else:
        # Means over some forty stretches: single observations differ far more than fits do.
        ends = np.unique(np.linspace(0, len(t) - 1, min(len(t), 40)).astype(int))
        gained = np.diff(columns["log_likelihood"][ends], prepend=0) / np.diff(t[ends], prepend=0)
        axes[0].plot(t[ends], gained, color=_ESTIMATE, lw=1, drawstyle="steps-pre")
        axes[0].set_ylabel("log-likelihood\nan observation")
    if names:
        for name in names:
            axes[1].plot(t, columns[name], lw=1, label=name)
        axes[1].set_ylabel("parameters")
        if len(names) <= 12:
            axes[1].legend(fontsize=7)
    axes[-1].set_xlabel("iteration" if model.method == "batch" else "t")
    return axes


def profile(model: Any, *, period: Optional[int] = None, errors: Optional[bool] = None,
            ax: Any = None) -> Any:
    """Draws the profile of the season: the gain of each component at each phase of the period.

    `period` says which one, if the model has several. `errors` draws bars of two standard errors;
    the model needs standard_errors=True. By default, bars are drawn if the model has the errors.
    """
    periods = _model(model).periods
    if not periods:
        raise ValueError("the model has no period")
    if period is None and len(periods) > 1:
        raise ValueError(f"the model has the periods {sorted(periods)}: say which with period=")
    if period is not None and period not in periods:
        raise ValueError(f"period={period}: the model has {sorted(periods)}")
    gains = periods[period] if period is not None else next(iter(periods.values()))
    known = model if hasattr(model, "standard_errors") else _model(model)
    found = known.standard_errors if errors is not False else None
    spread = found.periods.get(gains.shape[1]) if found is not None else None
    if errors and spread is None:
        raise ValueError("the model has no standard errors of this profile: fit with "
                         "standard_errors=True, and a stream that is long enough")
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 3), layout="constrained")
    for k, row in enumerate(gains):
        if spread is not None:
            # A gain cannot be negative, so a bar ends at 0.
            ax.errorbar(range(len(row)), row, yerr=[np.minimum(2 * spread[k], row), 2 * spread[k]],
                        fmt="none", ecolor=f"C{k}", elinewidth=1, capsize=2)
        ax.plot(range(len(row)), row, label=str(k + 1), color=f"C{k}", marker="." if len(row) < 60 else None)
    ax.axhline(1, color=_TRUTH, linewidth=0.8)
    ax.set(xlabel=f"phase of the period {gains.shape[1]}", ylabel="gain", ylim=(0, None))
    ax.legend(title="component", loc="upper right")
    return ax


def forecast(ahead: Any, *, seen: Any = None, names: Optional[Sequence[str]] = None,
             channels: Optional[Sequence[int]] = None, axes: Any = None) -> np.ndarray:
    """Draws a `Forecast`, a panel for each channel: the means, and bands between quantiles.

    The lowest and the highest level make the widest band, the next two a band within it, and so
    on; a level without a partner is a line. `seen` (T x M) is drawn before the forecast; its last
    row is at 0. `channels` chooses panels (from 0); by default the first twelve are shown. `names`
    are those of all channels.
    """
    order = np.argsort(ahead.levels)
    num_channels = ahead.mean.shape[1]
    shown = list(range(min(num_channels, 12)) if channels is None else channels)
    steps = np.arange(1, len(ahead.mean) + 1)
    if axes is None:
        _, axes = plt.subplots(len(shown), 1, sharex=True, squeeze=False,
                               figsize=(7, 1.1 * len(shown) + 0.7), layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(len(shown))
    for ax, m in zip(axes, shown):
        if seen is not None and m < np.shape(seen)[1]:
            past = np.asarray(seen, dtype=float)[:, m]
            ax.plot(np.arange(1 - len(past), 1), past, color=_TRUTH, lw=0.8)
        for i in range(len(order) // 2):
            low, high = ahead.quantiles[:, m, order[i]], ahead.quantiles[:, m, order[-1 - i]]
            ax.fill_between(steps, low, high, color=_ESTIMATE, alpha=0.25, lw=0)
        if len(order) % 2:
            ax.plot(steps, ahead.quantiles[:, m, order[len(order) // 2]], color=_ESTIMATE, lw=0.8,
                    ls="--")
        ax.plot(steps, ahead.mean[:, m], color=_ESTIMATE, lw=1.2)
        ax.set_ylim(bottom=0)
        ax.set_ylabel(str(m + 1) if names is None else names[m], rotation=0, ha="right",
                      va="center")
        ax.tick_params(labelsize=7)
    axes[-1].set_xlabel("steps ahead")
    return axes


def _tail_probabilities(given: Any) -> np.ndarray:
    values = getattr(given, "tail_probability", given)
    if values is None:
        raise ValueError("the score has no tail probabilities: score with surprise=True")
    values = np.asarray(values, dtype=float).ravel()
    values = values[np.isfinite(values)]
    if len(values) == 0:
        raise ValueError("there are no tail probabilities")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("tail probabilities lie between 0 and 1; found "
                         f"{values.min():.4g} to {values.max():.4g}")
    return values


def calibration(score: Any, *, axes: Any = None) -> np.ndarray:
    """Draws whether predictions are calibrated: tail probabilities as a histogram and a curve.

    `score` is a `Score` with surprise=True, or T tail probabilities. If the model is right they are
    uniform: bars of equal height, and a curve on the diagonal. At each point, the grey band contains
    95 % of such curves.
    """
    values = np.sort(_tail_probabilities(score))
    count = len(values)
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(2)
    bins = int(np.clip(np.sqrt(count), 5, 20))
    axes[0].hist(values, bins=bins, range=(0, 1), color=_ESTIMATE)
    axes[0].axhline(count / bins, color=_TRUTH, lw=0.8, ls="--")
    axes[0].set(xlabel="tail probability", ylabel="observations", xlim=(0, 1))
    levels = np.linspace(0, 1, 101)
    spread = 1.96 * np.sqrt(levels * (1 - levels) / count)
    axes[1].fill_between(levels, levels - spread, levels + spread, color="0.85", lw=0)
    axes[1].plot([0, 1], [0, 1], color=_TRUTH, lw=0.8, ls="--")
    axes[1].plot(values, np.arange(1, count + 1) / count, color=_ESTIMATE, lw=1.2,
                 drawstyle="steps-post")
    axes[1].set(xlabel="tail probability", ylabel="share at or below", xlim=(0, 1), ylim=(0, 1))
    return axes


def surprise(score: Any, *, times: Any = None, below: float = 0.01, ax: Any = None) -> Any:
    """Draws -log p(y_t | y_1..t-1) of each observation, and marks the unlikely ones.

    `score` is a `Score`. With surprise=True, observations whose tail probability is below `below`
    are marked, and so are those that are impossible.
    """
    values = -np.asarray(score.log_predictive, dtype=float)
    times = np.arange(1, len(values) + 1) if times is None else np.asarray(times)
    if len(times) != len(values):
        raise ValueError(f"times has {len(times)} values; the score has {len(values)} observations")
    marked = np.isinf(values)
    if score.tail_probability is not None:
        marked = marked | (np.asarray(score.tail_probability) < below)
    finite = values[np.isfinite(values)]
    shown = np.where(np.isinf(values), finite.max() if len(finite) else 1, values)
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 2.5), layout="constrained")
    ax.plot(times, shown, color=_ESTIMATE, lw=0.8)
    if marked.any():
        ax.plot(times[marked], shown[marked], "o", ms=4, color="C3",
                label="impossible" if score.tail_probability is None
                else f"tail probability below {below:g}")
        ax.legend(fontsize=7)
    ax.set(xlabel="t", ylabel="surprise (nats)")
    return ax
