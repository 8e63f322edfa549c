"""Figure 2: one activation of the relaxed prior."""

import matplotlib.pyplot as plt

import drawing
from examples import EXAMPLE2
from page import commands, picture, section

SEED = 3


def run(workshop):
    work = workshop.folder("figure2")
    work("simulate", *EXAMPLE2, "--channels", 1, "--components", 1, "--length", 500, "--seed", SEED,
         "--out", "counts.npy", "--save-activations", "activations.npy")
    activation = work.load("activations.npy")[:, 0]
    figure, axis = plt.subplots(figsize=(7, 2.1))
    axis.plot(range(1, 501), activation, color=drawing.OURS, linewidth=0.9)
    axis.set(xlim=(0, 500), ylim=(-0.02, 1.02), yticks=[0, 0.5, 1], xlabel="t", ylabel="$x_t$")
    figure.subplots_adjust(left=0.07, right=0.985, top=0.96, bottom=0.2)
    drawing.save(workshop, figure, "figure2")
    return section("Figure 2: an activation between off and on",
                   picture("figure2", "A path that stays near 0 or 1 and now and then crosses"),
                   "500 steps of one component of `relaxed-selection` with alpha = .95. The first step is "
                   "drawn from the stationary law; in the paper it is uniform.",
                   commands(work.lines))
