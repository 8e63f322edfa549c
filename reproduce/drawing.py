"""How pictures look: thin lines, little ink, the truth as a horizontal line."""

import io
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter
from PIL import Image

TRUTH, OURS, PAPER, FAINT = "#d1495b", "#1b3a5c", "#8fb1cc", "#666666"
SERIES = ["#1b3a5c", "#d1795b", "#3c8d5f", "#8a5ba6", "#c29a1c", "#4aa3b8", "#a3485f"]

plt.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8.5, "axes.linewidth": 0.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT,
    "xtick.color": FAINT, "ytick.color": FAINT, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "xtick.major.width": 0.5, "ytick.major.width": 0.5, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "xtick.major.pad": 2, "ytick.major.pad": 2, "lines.linewidth": 1.0,
    "lines.solid_capstyle": "round", "legend.frameon": False, "legend.fontsize": 8,
    "svg.fonttype": "none", "svg.hashsalt": "headwater", "savefig.facecolor": "white"})


def save(workshop, figure, name):
    """PNG of few colours, and SVG with coordinates to a tenth of a point: both stay small."""
    pixels = io.BytesIO()
    figure.savefig(pixels, dpi=140, metadata={"Software": None})
    few_colours = Image.open(pixels).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    few_colours.save(workshop.figures / f"{name}.png", optimize=True)
    file = workshop.figures / f"{name}.svg"
    figure.savefig(file, metadata={"Date": None})
    file.write_text(re.sub(r"(\d\.\d)\d+", r"\1", file.read_text()))
    plt.close(figure)


def thinned(values, points=92):
    """Indices of about so many, both ends among them."""
    return np.unique(np.linspace(0, len(values) - 1, points).round().astype(int))


def thousands(axis):
    axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")


def error_axis(axis):
    """Logarithmic, with plain numbers."""
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=[1, 2, 5]))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="y", which="minor", length=0)


def legend(figure, entries, **placed):
    """entries: label -> colour."""
    lines = [Line2D([], [], color=colour, linewidth=1.6) for colour in entries.values()]
    figure.legend(lines, list(entries), ncols=len(entries), **placed)


def grid_of_traces(truth, traces, length, half_height):
    """The paper's layout: panel (i, j) is B(i, j) over time, the truth a horizontal line.

    traces: colour -> (t, R x M x K). Each panel shows the truth give or take half_height, so that
    errors can be compared from panel to panel.
    """
    rows, columns = truth.shape
    figure, axes = plt.subplots(rows, columns, figsize=(9, 0.86 * rows + 0.9), sharex=True)
    for (i, j), axis in np.ndenumerate(axes):
        axis.axhline(truth[i, j], color=TRUTH, linewidth=1.1, zorder=1)
        for z, (colour, (t, estimates)) in enumerate(traces.items()):
            kept = thinned(t)
            axis.plot(t[kept], estimates[kept, i, j], color=colour, linewidth=1, zorder=2 + z)
        axis.set_ylim(truth[i, j] - half_height, truth[i, j] + half_height)
        axis.set_yticks([truth[i, j]], [f"{truth[i, j]:.2f}"], color=TRUTH)
        axis.set_xlim(0, length)
        axis.set_xticks([0, length / 2, length])
        thousands(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0)
        if i == 0:
            axis.set_title(f"component {j + 1}", color=FAINT)
    figure.supxlabel(f"observations; each panel is the truth ± {half_height:g}", fontsize=8,
                     color=FAINT, y=0.012)
    figure.subplots_adjust(left=0.05, right=0.972, top=0.915, bottom=0.075, wspace=0.28, hspace=0.3)
    return figure
