"""Priors beyond the paper's: positive activations that drift."""

import parameter_traces
from page import section
from parameter_traces import Case

M, K = 8, 3


def run(workshop):
    sets, length = workshop.size((5, 50_000), (1, 500))
    cases = [Case("log-gaussian", {"persistence": 0.9, "noise": 0.3},
                  {"persistence": 0.6, "noise": 0.5}, length, M, K, []),
             Case("gamma", {"shape": 2, "persistence": 0.8}, {"shape": 1, "persistence": 0.5}, length,
                  M, K, [])]
    return section(
        "log-gaussian and gamma",
        "Unbounded activations, which the paper only mentions. The basis, the scale of each column "
        f"and the parameters are learned together, from an automatic start. M = {M}, K = {K}, "
        f"{length:,} observations, {sets} data sets.",
        *parameter_traces.run(workshop, "other_priors", cases, sets))
