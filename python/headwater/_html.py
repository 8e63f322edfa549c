"""A summary of a model for notebooks: HTML with small pictures, and nothing from elsewhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Sequence

import numpy as np

if TYPE_CHECKING:
    from headwater._model import Model

_STRONGEST = 5  # channels of a component that are named
_MOST_COMPONENTS = 20  # that are listed
_MOST_CELLS = 60  # of the heat map, down; more channels share a cell
_COLOUR = "#3b6fb6"


def summary(model: "Model") -> str:
    """What was fitted, how well, and the strongest channels of each component."""
    parts = [f"<p><b>headwater</b>: {_escape(sentence(model))}</p>"]
    parts += [f"<p>Warning: {_escape(line)}</p>" for line in model.warnings]
    parts.append('<div style="display:flex;gap:2em;flex-wrap:wrap;align-items:flex-start">')
    parts += [_components(model), _heat_map(model.basis), _likelihood(model), "</div>"]
    return "".join(parts)


def sentence(model: "Model") -> str:
    counts = model.counts["law"].replace("-", " ")
    text = (f"{model.num_components} components in {model.num_channels:,} channels, activations "
            f"{model.prior}, counts {counts}; {model.observations:,} observations")
    if model.observations > 0:
        mean = model.log_likelihood / model.observations
        text += f", mean log-probability {mean:.4g}"
    return text + "."


def _escape(text: str) -> str:
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _components(model: "Model") -> str:
    basis = model.basis
    names = model.names or [str(m + 1) for m in range(model.num_channels)]
    totals = basis.sum(axis=0)
    rows = []
    for k in range(min(model.num_components, _MOST_COMPONENTS)):
        strongest = np.argsort(-basis[:, k], kind="stable")[:_STRONGEST]
        bars = "".join(_bar(names[m], basis[m, k], basis[strongest[0], k]) for m in strongest)
        rows.append(f"<tr><th>{k + 1}</th><td>{totals[k]:.4g}</td>"
                    f'<td style="text-align:left">{bars}</td></tr>')
    if model.num_components > _MOST_COMPONENTS:
        rows.append(f'<tr><td colspan="3">and {model.num_components - _MOST_COMPONENTS} more</td>'
                    "</tr>")
    return ("<table><thead><tr><th>component</th><th>sum of its column</th>"
            '<th style="text-align:left">strongest channels</th></tr></thead><tbody>'
            + "".join(rows) + "</tbody></table>")


def _bar(name: str, value: float, largest: float) -> str:
    width = 90 * value / largest if largest > 0 else 0
    short = name if len(name) <= 24 else name[:23] + "…"
    return (f'<div title="{_escape(name)}"><svg width="92" height="9" role="img" '
            f'aria-label="{value:.4g}"><rect width="{width:.1f}" height="9" fill="{_COLOUR}"/></svg> '
            f"<bdi>{_escape(short)}</bdi>: {value:.3g}</div>")


def _heat_map(basis: np.ndarray) -> str:
    """Channels down, components across; each column as a part of its largest entry."""
    groups = np.array_split(np.arange(len(basis)), min(len(basis), _MOST_CELLS))
    cells = np.stack([basis[group].max(axis=0) for group in groups])
    shades = cells / np.maximum(cells.max(axis=0), np.finfo(float).tiny)
    height = max(3, min(14, 240 // len(cells)))
    drawn = "".join(
        f'<rect x="{18 * k}" y="{height * m}" width="18" height="{height}" fill="{_COLOUR}" '
        f'fill-opacity="{shades[m, k]:.2f}"/>'
        for m in range(len(cells)) for k in range(cells.shape[1]))
    return _picture(18 * cells.shape[1], height * len(cells), drawn,
                    "basis: channels down, components across")


def _likelihood(model: "Model") -> str:
    """The mean log-probability over time, in some forty stretches."""
    columns = model.trace()
    t, total = columns["t"], columns["log_likelihood"]
    if len(t) < 3:
        return ""
    if model.method == "batch":
        values, label = total, "log-likelihood by iteration"
    else:
        ends = np.unique(np.linspace(0, len(t) - 1, min(len(t), 40)).astype(int))
        values = np.diff(total[ends]) / np.diff(t[ends])
        label = "mean log-probability over time"
    return _picture(240, 70, _line(values, 240, 70), label)


def _line(values: Sequence[float], width: int, height: int) -> str:
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return ""
    low, high = values.min(), values.max()
    across = np.linspace(1, width - 1, len(values))
    down = height - 2 - (height - 4) * (values - low) / max(high - low, np.finfo(float).tiny)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down))
    return f'<polyline points="{points}" fill="none" stroke="{_COLOUR}" stroke-width="1.5"/>'


def _picture(width: int, height: int, drawn: str, label: str) -> str:
    if not drawn:
        return ""
    return (f'<figure style="margin:0"><svg width="{width}" height="{height}" role="img" '
            f'aria-label="{label}">{drawn}</svg><figcaption><small>{label}</small></figcaption>'
            "</figure>")
