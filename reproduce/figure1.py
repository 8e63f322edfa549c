"""Figure 1: all 40 entries of the basis, Example 1, exact online EM."""

import basis_figure
from examples import EXAMPLE1, HOLD1


def run(workshop):
    return basis_figure.run(
        workshop, "figure1", "Figure 1: every entry of the basis, exactly",
        "Example 1 of the paper: sources that are off or on, p = .8571, q = .6926.",
        EXAMPLE1, HOLD1, workshop.size(100_000, 5_000), half_height=0.25)
