"""What the paper left for later: p, q and alpha learned together with the basis."""

import parameter_traces
from examples import K, M
from page import section
from parameter_traces import Case


def run(workshop):
    sets = workshop.size(5, 1)
    cases = [Case("basis-selection", {"stay_off": 0.8571, "stay_on": 0.6926},
                  {"stay_off": 0.6, "stay_on": 0.9}, workshop.size(100_000, 1_000), M, K, []),
             Case("relaxed-selection", {"alpha": 0.95}, {"alpha": 0.8},
                  workshop.size(50_000, 500), M, K, [])]
    return section(
        "p, q and alpha learned together with the basis",
        "The paper's examples with nothing known: an automatic start, and parameters that begin far "
        f"from the truth. M = {M}, K = {K}, {cases[0].length:,} and {cases[1].length:,} "
        f"observations, {sets} data sets. Each line is one data set; the horizontal line is the "
        "truth.",
        *parameter_traces.run(workshop, "joint", cases, sets))
