"""Tables of accuracy: Example 1 over the MLE and the Cramer-Rao bound, Example 2 over X known."""

import re

from page import commands, section, table


def rows_of(output, ratios):
    """Name, numbers and ratios of each data set, of the rows that a program of bench/ prints."""
    row = re.compile(r"(\S.*?)\s+" + r"([\d.]+)\s+" * (1 + ratios) + r"\s*([\d. ]+)")
    found = []
    for line in output.splitlines():
        if line.startswith("alpha ="):  # what was learned, a sentence
            continue
        if match := row.fullmatch(line.strip()):
            each = [float(word) for word in match[ratios + 3].split()]
            found.append([match[1], *match.groups()[1:ratios + 2], f"{min(each)} to {max(each)}"])
    return found


def example1(workshop):
    sets, length = workshop.size((5, 100_000), (2, 2_000))
    output, line = workshop.bench("example1_accuracy", sets, length)
    return section(
        "Accuracy on Example 1, per step size, last and averaged",
        f"{sets} data sets of {length:,} observations (seeds 1 to {sets}), exact engine. \"MLE\" is the "
        "maximum-likelihood estimate. The Cramer-Rao bound is the root mean square of the standard "
        "errors from the inverse of the observed information, which is computed by differences of "
        "the exact score at the truth. The last column divides each error by that of the MLE on the "
        "same data, and gives the range over data sets. The row \"nothing known\" starts "
        "automatically and learns p and q too. The other rows know p and q and start at the truth "
        "times exp(.5 normal).",
        table(["estimate", "error", "over MLE", "over bound", "each over its MLE"],
              rows_of(output, 2)), commands([line]))


def example2(workshop):
    sets, length, particles = workshop.size((5, 50_000, 1000), (1, 1_000, 200))
    output, line = workshop.bench("example2_accuracy", sets, length, particles)
    return section(
        "Accuracy on Example 2",
        f"{sets} data sets of {length:,} observations (seeds 1 to {sets}), {particles:,} particles. "
        "\"Best\" is the maximum-likelihood estimate that knows every activation, which is "
        "impossible in practice. The last column is the range over data sets. Rows \"default\" have "
        "the options of a plain fit. They know alpha and start at the truth times exp(.5 normal); if "
        "nothing is known, they start automatically and learn alpha too, from .8 on. In the rows "
        "\"the record twice\" the fit gets all observations a second time. No fit does so by itself; "
        "these rows show what a single pass loses.",
        table(["estimate", "error", "over best", "each over its best"], rows_of(output, 1)),
        output.strip().splitlines()[-1] + ".", commands([line]))


def run(workshop):
    return example1(workshop) + "\n" + example2(workshop)
