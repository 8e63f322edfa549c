"""M = 50, K = 10: larger than the paper's examples."""

import matplotlib.pyplot as plt
import numpy as np

import drawing
from bases import matched_trace, order, relative_error
from examples import EXAMPLE1
from page import commands, picture, section, spread, table

M, K = 50, 10


def learn(workshop, length, seed):
    work = workshop.folder(f"large/{seed}")
    work("simulate", *EXAMPLE1, "--channels", M, "--components", K, "--length", length, "--seed",
         seed, "--out", "counts.npy", "--save-basis", "truth.npy")
    work("fit", "counts.npy", "--components", K, *EXAMPLE1[:2], "--seed", seed + 100,
         "--trace-every", length // 200, "--out", "model.h5")
    return work


def draw(workshop, works, length):
    truth, found = works[0].load("truth.npy"), works[0].basis("model.h5")
    found = found[:, order(found, truth)]
    figure, axes = plt.subplots(1, 4, figsize=(9, 4), width_ratios=[1, 1, 1, 2.1])
    largest = truth.max()
    pictures = [("truth", truth, "Blues", 0, largest), ("found", found, "Blues", 0, largest),
                ("found − truth, × 20", 20 * (found - truth), "RdBu", -largest, largest)]
    for axis, (title, values, colours, low, high) in zip(axes, pictures):
        axis.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        axis.set(title=title, xlabel="component", xticks=[0, K - 1], xticklabels=[1, K],
                 yticks=[0, M - 1], yticklabels=[1, M])
    axes[0].set_ylabel("channel", labelpad=-6)
    for work in works:
        trace, truth = work.trace("model.h5"), work.load("truth.npy")
        errors = np.linalg.norm(matched_trace(trace, truth) - truth, axis=(1, 2))
        kept = drawing.thinned(trace["t"])
        axes[3].plot(trace["t"][kept], errors[kept] / np.linalg.norm(truth), color=drawing.OURS,
                     linewidth=0.9, alpha=0.75)
    drawing.error_axis(axes[3])
    axes[3].set(title="relative error of the basis", xlabel="observations", xlim=(0, length))
    drawing.thousands(axes[3])
    figure.tight_layout(w_pad=1.2)
    drawing.save(workshop, figure, "large")


def run(workshop):
    sets, length = workshop.size((5, 50_000), (1, 300))
    works = workshop.map(lambda seed: learn(workshop, length, seed), range(1, sets + 1))
    draw(workshop, works, length)
    errors = [relative_error(work.basis("model.h5"), work.load("truth.npy")) for work in works]
    return section(
        f"M = {M}, K = {K}",
        picture("large", "The true basis, the one found, their difference, and errors over time"),
        f"{K} sources that are off or on (p = .8571, q = .6926), {M} channels, 2^{K} joint states, "
        f"{length:,} observations, {sets} data sets. Nothing is known; exact engine.",
        table(["", "mean over data sets (range)"],
              [["relative error of the basis", spread(errors, 4)]]),
        commands(works[0].lines, f"Commands for the first data set; the others have seeds up to {sets}:"))
