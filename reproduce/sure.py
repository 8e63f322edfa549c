"""How sure is it, and how many sources: intervals around a basis, scores of several K."""

import json

import matplotlib.pyplot as plt
import numpy as np

import bases
import drawing
from page import commands, picture, section, table

M, K, SEED = 12, 3, 11
BASIS = np.array([[9, 7, 4, 1, 0, 0, 0, 0, 2, 3, 0, 0], [0, 0, 2, 5, 8, 6, 3, 0, 0, 1, 0, 0],
                  [1, 0, 0, 0, 0, 1, 4, 7, 9, 5, 2, 3]]).T
PRIOR = ("--prior", "basis-selection", "--set", "stay_off=0.9", "--set", "stay_on=0.7")


def run(workshop):
    work = workshop.folder("sure")
    length = workshop.size(6000, 4000)
    work.save("basis.npy", BASIS.astype(float))
    work("simulate", *PRIOR, "--basis", "basis.npy", "--length", length, "--seed", SEED, "--out",
         "counts.npy")
    return "\n".join([intervals(workshop, work, length), numbers(workshop, work, length)])


def intervals(workshop, work, length):
    """Estimates with bars of two standard errors, after a tenth of the stream and after all."""
    parts = length // 10, length
    np.save(work.path / "tenth.npy", work.load("counts.npy")[:parts[0]])
    covered, figure = [], plt.figure(figsize=(8, 4.6))
    axes = figure.subplots(K, 2, sharex=True, sharey="row")
    for column, (data, rows) in enumerate(zip(("tenth.npy", "counts.npy"), parts)):
        model = data.replace(".npy", ".h5")
        work("fit", data, "--components", K, *PRIOR[:2], "--counts", "poisson",
             "--standard-errors", "--out", model)
        facts = json.loads(work("show", model, "--json"))
        found, errors = work.basis(model), np.array(facts["standard_errors"]["basis"])[:, :K]
        order = bases.order(found, BASIS)
        found, errors = found[:, order], errors[:, order]
        covered.append(np.mean(np.abs(found - BASIS) <= 2 * errors))
        for k in range(K):
            axis, at = axes[k, column], np.arange(1, M + 1)
            axis.bar(at, found[:, k], color=drawing.PAPER, width=0.8, linewidth=0)
            axis.errorbar(at, found[:, k], fmt="none", ecolor=drawing.OURS, elinewidth=1.2, capsize=2,
                          yerr=[np.minimum(2 * errors[:, k], found[:, k]), 2 * errors[:, k]])
            axis.hlines(BASIS[:, k], at - 0.4, at + 0.4, color=drawing.TRUTH, linewidth=1.1)
            axis.set_xticks([1, 4, 8, 12])
            if column == 0:
                axis.set_ylabel(f"component {k + 1}", color=drawing.FAINT)
        axes[0, column].set_title(f"after {rows:,} observations", color=drawing.FAINT)
        axes[-1, column].set_xlabel("channel", color=drawing.FAINT)
    drawing.legend(figure, {"truth": drawing.TRUTH, "estimate ± two standard errors": drawing.OURS},
                   loc="upper center", fontsize=8)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.86, bottom=0.09, hspace=0.25, wspace=0.06)
    drawing.save(workshop, figure, "sure")
    rows = [[f"{n:,}", f"{share:.3f}"] for n, share in zip(parts, covered)]
    return section(
        "How sure is it?",
        picture("sure", "Columns of a basis with bars of two standard errors, and the truth"),
        f"One stream of the prior `basis-selection`, {M} channels and {K} sources. Bars are two standard "
        "errors long on either side (`--standard-errors`). The table has the share of entries whose "
        "bar reaches the truth; 95 % are expected over many streams.",
        table(["observations", "entries within two standard errors"], rows), commands(work.lines))


def numbers(workshop, work, length):
    """The scores of fits with one to seven components."""
    before = len(work.lines)
    work("fit", "counts.npy", "--components", "1..7", *PRIOR[:2], "--counts", "poisson",
         "--threads", 2, "--out", "choice.h5")
    scores = json.loads(work("show", "choice.h5", "--json"))["choice_of_components"]
    best = max(row["score"] for row in scores)
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.6))
    near = [row for row in scores if row["components"] >= K]
    for axis, shown in zip(axes, (scores, near)):
        axis.errorbar([row["components"] for row in shown], [row["score"] - best for row in shown],
                      yerr=[row["standard_error"] for row in shown], color=drawing.OURS, marker="o",
                      markersize=3, linewidth=1, elinewidth=1.2, capsize=2)
        chosen = next(row for row in shown if row["chosen"])
        axis.plot(chosen["components"], chosen["score"] - best, "o", markersize=8,
                  markerfacecolor="none", markeredgecolor=drawing.TRUTH)
        axis.axhline(0, color="#cccccc", linewidth=0.6, zorder=0)
        axis.set_xlabel("components")
        axis.set_xticks([row["components"] for row in shown])
    axes[0].set_ylabel("nats an observation\nto the best")
    axes[0].set_title("all", loc="left")
    axes[1].set_title(f"from {K} on", loc="left")
    figure.tight_layout()
    drawing.save(workshop, figure, "how_many")
    rows = [[row["components"], f"{row['score']:.4f}", f"{row['score'] - best:.4f}",
             f"{row['standard_error']:.4f}", "chosen" if row["chosen"] else ""] for row in scores]
    return section(
        "How many sources?",
        picture("how_many", "Scores of fits with one to seven components, relative to the best"),
        f"The same stream of {length:,} observations with {K} sources, fitted with one to seven "
        "components in one pass. The score is the mean log-probability of an observation given those "
        "before it, after the start; bars are one standard error of the difference to the best. The "
        "circle is the number that was chosen: the smallest within one standard error or .001 nats a "
        "cell of the best.",
        table(["components", "score", "to the best", "standard error", ""], rows),
        commands(work.lines[before:]))
