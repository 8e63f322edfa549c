"""The paper's figures of a basis: a stream, two fits of it, their traces in a grid."""

import drawing
from bases import matched_trace, near, root_mean_square_error
from examples import AS_PRINTED, K, M
from page import commands, picture, section, table

SEED = 2012


def fit_both(workshop, work, prior, as_in_paper, length):
    """Models paper.h5, which knows the prior's parameters, and default.h5, which knows nothing."""
    work("simulate", *prior, "--channels", M, "--components", K, "--length", length, "--seed", SEED,
         "--out", "counts.npy", "--save-basis", "truth.npy")
    work.save("near.npy", near(work.load("truth.npy"), SEED))
    fit = ["fit", "counts.npy", "--components", K]
    end = ["--seed", SEED + 1, "--trace-every", length // 200, "--out"]
    workshop.map(lambda words: work(*words), [
        [*fit, *prior, *as_in_paper, *AS_PRINTED, "--init", "near.npy", *end, "paper.h5"],
        [*fit, *prior[:2], *end, "default.h5"]])


def run(workshop, name, title, text, prior, as_in_paper, length, half_height):
    work = workshop.folder(name)
    fit_both(workshop, work, prior, as_in_paper, length)
    truth = work.load("truth.npy")
    traces, errors = {}, {}
    for colour, model in (drawing.PAPER, "paper"), (drawing.OURS, "default"):
        trace = work.trace(f"{model}.h5")
        traces[colour] = trace["t"], matched_trace(trace, truth)
        errors[model] = root_mean_square_error(traces[colour][1][-1], truth)
    figure = drawing.grid_of_traces(truth, traces, length, half_height)
    drawing.legend(figure, {"truth": drawing.TRUTH, "as the paper runs it": drawing.PAPER,
                            "the default, which knows nothing": drawing.OURS},
                   loc="upper center", bbox_to_anchor=(0.5, 1.0))
    drawing.save(workshop, figure, name)
    return section(
        title, picture(name, "40 panels, one for each entry of the basis, with the truth as a "
                             "horizontal line"),
        f"{text} M = {M}, K = {K}, {length:,} observations, seed {SEED}. The fit \"as the paper runs "
        "it\" knows the prior's parameters. The paper does not say where its basis started; here it "
        "starts at the truth times exp(.5 normal) (`near.npy`). The default fit finds a start and "
        "the parameters by itself.",
        table(["fit", "error at the end"],
              [["as the paper runs it: t^-0.8, last iterate", f"{errors['paper']:.4f}"],
               ["the default: averaged, from an automatic start", f"{errors['default']:.4f}"]]),
        commands(work.lines))
