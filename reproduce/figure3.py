"""Figure 3: all 40 entries of the basis, Example 2, Algorithm 1."""

import basis_figure
from examples import ALGORITHM1, EXAMPLE2, HOLD2


def run(workshop):
    return basis_figure.run(
        workshop, "figure3", "Figure 3: every entry of the basis, by Algorithm 1",
        "Example 2 of the paper: sources between off and on, alpha = .95, 1,000 particles.",
        EXAMPLE2, [*HOLD2, *ALGORITHM1], workshop.size(50_000, 1_000), half_height=0.6)
