"""The model in one picture: counts are Poisson around a basis times activations."""

import matplotlib.pyplot as plt
import numpy as np

import drawing
from examples import EXAMPLE1
from page import commands, picture, section

M, K, LENGTH, SEED = 8, 3, 80, 5
BASIS = np.array([[9, 7, 1, 0, 0, 0, 2, 0], [0, 0, 5, 9, 6, 1, 0, 0], [1, 0, 0, 0, 3, 6, 9, 8]]).T


def run(workshop):
    work = workshop.folder("model_picture")
    work.save("basis.npy", BASIS.astype(float))
    work("simulate", *EXAMPLE1[:2], "--set", "stay_off=0.95", "--set", "stay_on=0.9", "--basis",
         "basis.npy", "--length", LENGTH, "--seed", SEED, "--out", "counts.npy",
         "--save-activations", "activations.npy")
    counts, activations = work.load("counts.npy"), work.load("activations.npy")

    figure, axes = plt.subplots(2, 2, figsize=(8, 3.5), width_ratios=[1, 7.2], height_ratios=[1, 2])
    axes[0, 0].set_visible(False)
    for k in range(K):
        row = K - 1 - k
        axes[0, 1].fill_between(range(LENGTH), row, row + 0.75 * activations[:, k], step="mid",
                                color=drawing.SERIES[k], linewidth=0)
        axes[0, 1].axhline(row, color="#cccccc", linewidth=0.6)
    axes[0, 1].set(yticks=np.arange(K) + 0.37, yticklabels=[3, 2, 1], xticks=[],
                   xlim=(-0.5, LENGTH - 0.5))
    axes[0, 1].set_title("activations $x_t$: which sources are on", loc="left")
    axes[1, 0].imshow(BASIS, cmap="Blues", aspect="auto")
    axes[1, 0].set(xticks=range(K), xticklabels=[1, 2, 3], yticks=[0, M - 1], yticklabels=[1, M],
                   ylabel="channel")
    for label, colour in zip(axes[1, 0].get_xticklabels(), drawing.SERIES):
        label.set(color=colour, fontweight="bold")
    for label, colour in zip(axes[0, 1].get_yticklabels()[::-1], drawing.SERIES):
        label.set(color=colour, fontweight="bold")
    axes[1, 0].set_title("basis $B$", loc="left")
    axes[1, 1].imshow(counts.T, cmap="Blues", aspect="auto", interpolation="nearest")
    axes[1, 1].set(yticks=[], xlabel="time")
    axes[1, 1].set_title("observations $y_t$: Poisson counts around $B x_t$, all that is seen",
                         loc="left")
    for axis in axes.flat:
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0)
    figure.tight_layout(h_pad=0.8, w_pad=0.6)
    drawing.save(workshop, figure, "model")
    return section("The model", picture("model", "A basis, activations over time, and the counts "
                                                 "that come of them"),
                   f"{LENGTH} observations of {M} channels with {K} sources.", commands(work.lines))
