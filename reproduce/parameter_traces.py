"""Parameters of a prior and the basis, learned together: how they went, data set by data set."""

from collections import namedtuple

import matplotlib.pyplot as plt
import numpy as np

import drawing
from bases import matched_trace
from page import commands, picture, table

# truth: the parameters of the streams; start: where the fits begin, far from them.
Case = namedtuple("Case", "prior truth start length channels components options")


def settings(values):
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def learn(workshop, name, case, seed):
    work = workshop.folder(f"{name}/{case.prior}-{seed}")
    size = ["--components", case.components]
    work("simulate", "--prior", case.prior, *settings(case.truth), "--channels", case.channels, *size,
         "--length", case.length, "--seed", seed, "--out", "counts.npy", "--save-basis", "truth.npy")
    work("fit", "counts.npy", *size, "--prior", case.prior, *settings(case.start), *case.options,
         "--seed", seed + 100, "--trace-every", case.length // 200, "--out", "model.h5")
    trace, truth = work.trace("model.h5"), work.load("truth.npy")
    errors = np.linalg.norm(matched_trace(trace, truth) - truth, axis=(1, 2)) / np.linalg.norm(truth)
    return trace, errors, work.lines


def draw_row(axes, case, fits):
    """A panel for each parameter, and one for the basis; a line for each data set."""
    for axis, (parameter, truth) in zip(axes, case.truth.items()):
        axis.axhline(truth, color=drawing.TRUTH, linewidth=1.2)
        for trace, _, _ in fits:
            kept = drawing.thinned(trace["t"])
            axis.plot(trace["t"][kept], trace[parameter][kept], color=drawing.OURS, linewidth=0.8,
                      alpha=0.75)
        axis.set_title(parameter)
        final = [trace[parameter][-1] for trace, _, _ in fits]
        reach = max(4 * np.max(np.abs(np.array(final) - truth)), 0.04 * abs(truth))
        axis.set_ylim(truth - reach, truth + reach)
    of_basis, *unused = axes[len(case.truth):]
    for trace, errors, _ in fits:
        kept = drawing.thinned(trace["t"])
        of_basis.plot(trace["t"][kept], errors[kept], color=drawing.OURS, linewidth=0.8, alpha=0.75)
    drawing.error_axis(of_basis)
    of_basis.set_title("relative error of the basis")
    axes[0].set_ylabel(case.prior, fontsize=9)
    for axis in unused:
        axis.set_visible(False)
    for axis in axes:
        axis.set_xlim(0, case.length)
        axis.set_xlabel("observations", color=drawing.FAINT)
        drawing.thousands(axis)


def draw(workshop, name, cases, fits):
    columns = 1 + max(len(case.truth) for case in cases)
    figure, axes = plt.subplots(len(cases), columns, figsize=(3 * columns, 2.1 * len(cases)),
                                squeeze=False)
    for row, case, found in zip(axes, cases, fits):
        draw_row(row, case, found)
    figure.tight_layout(h_pad=1.6, w_pad=1.4)
    drawing.save(workshop, figure, name)


def rows_of(case, fits):
    rows = []
    for parameter, truth in case.truth.items():
        final = np.array([trace[parameter][-1] for trace, _, _ in fits])
        rows.append([case.prior, parameter, truth, case.start[parameter], f"{final.mean():.4f}",
                     f"{final.std(ddof=1):.4f}"])
    final = np.array([errors[-1] for _, errors, _ in fits])
    rows.append([case.prior, "basis, relative error", "", "", f"{final.mean():.4f}",
                 f"{final.std(ddof=1):.4f}"])
    return rows


def run(workshop, name, cases, sets):
    """The picture, the table and the commands of the first data set."""
    fits = [workshop.map(lambda seed: learn(workshop, name, case, seed), range(1, sets + 1))
            for case in cases]
    draw(workshop, name, cases, fits)
    lines = [line for found in fits for line in found[0][2]]
    return [picture(name, "Traces of the parameters beside the truth, and of the basis's error"),
            table(["prior", "what", "truth", "start", "found, mean", "s.d. over data sets"],
                  [row for case, found in zip(cases, fits) for row in rows_of(case, found)]),
            commands(lines, f"Commands for the first data set. The others have seeds up to {sets}; "
                            "the seed of a fit is that of its data plus 100:")]
