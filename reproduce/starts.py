"""How often a fit that knows nothing ends where a fit that started at the truth ends."""

import re
import sys

from page import commands, section, table
from workshop import PROJECT, run as run_command

# Medians of the table that bench/convergence prints, by prior and by fit.
GROUP = re.compile(r"^(\S+) (\d+x\d+), streams: (\d+)$")
ROW = re.compile(r"^\s+(auto|truth|NMF|MiniBatchNMF)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$")
VERDICT = re.compile(r"median ratio (\S+); ratio <= 1.3: (\d+) of \d+; cosine >= 0.98: (\d+) of")


def rows_of(output):
    rows, group, cosines = [], None, {}
    for line in output.splitlines():
        if match := GROUP.match(line):
            group, cosines = match, {}
        elif group and (match := ROW.match(line)):
            cosines[match[1]] = match[4]
        elif group and (match := VERDICT.search(line)):
            rows.append([f"{group[1]}, {group[2]}", group[3], match[1], match[2], match[3],
                         cosines["auto"], cosines["NMF"], cosines["MiniBatchNMF"]])
    return rows


def run(workshop):
    words = workshop.size(["--seed", "7", "--sets", "6", "--sizes", "8x5"],
                          ["--seed", "7", "--sets", "1", "--sizes", "8x5", "--length", "1000",
                           "--particles", "100", "--priors", "basis-selection,relaxed-selection"])
    output = run_command([sys.executable, PROJECT / "bench" / "convergence", workshop.headwater,
                          "--peers", *words], workshop.root)
    return section(
        "Success from unknown starts",
        "Streams from random bases (entries exponential with mean 10). Each stream is fitted twice "
        "with the plain command: from its automatic start, and from the true basis. The ratio is "
        "the first error over the second. For `basis-selection` and `relaxed-selection` a fit has "
        "succeeded if the ratio is 1.3 or less. For the other priors, whose scale is learned "
        "slowly, it has succeeded if the mean cosine between its columns and the true ones is .98 "
        "or more. The last three columns are medians of that cosine, for headwater and for "
        "scikit-learn on the same streams.",
        table(["prior, M x K", "streams", "median ratio", "ratio ≤ 1.3", "cosine ≥ .98",
               "cosine", "of NMF", "of MiniBatchNMF"], rows_of(output)),
        commands([" ".join(["bench/convergence build/release/headwater --peers", *words])]))
