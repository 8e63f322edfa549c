"""The paper's figures and the project's tables, from simulation to picture.

Usage: ./dev reproduce [NAME ...] [--quick]

Without names, everything. A full run writes docs/figures/ and docs/results.md; --quick takes
shorter streams through the same code and writes below build/reproduce/quick instead.
"""

import argparse
import os
import pathlib
import sys
import time

# Two fits run at a time; a library with threads of its own would only get in their way.
for name in "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS":
    os.environ[name] = "1"

import accuracy
import figure1
import figure2
import figure3
import joint
import large
import model_picture
import other_priors
import prediction
import smoothers
import starts
import sure
import walkthrough
from page import write_page
from workshop import CommandFailed, Workshop

# In the order of the page.
SECTIONS = [model_picture, figure1, figure2, figure3, accuracy, smoothers, starts, sure, prediction, joint,
            other_priors, large, walkthrough]


def parse_arguments():
    names = [section.__name__ for section in SECTIONS]
    parser = argparse.ArgumentParser(prog="./dev reproduce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="shorter streams, to see that it works")
    options = parser.parse_args()
    for name in options.names:
        if name not in names:
            parser.error(f"'{name}' is not one of {', '.join(names)}")
    return options


def main():
    options = parse_arguments()
    workshop = Workshop(options.build, options.quick)
    for section in SECTIONS:
        name = section.__name__
        if options.names and name not in options.names:
            continue
        began = time.monotonic()
        try:
            workshop.keep(name, section.run(workshop))
        except CommandFailed as error:
            sys.exit(f"./dev reproduce: {name}: {error}")
        print(f"{name:14} {time.monotonic() - began:6.1f} s", flush=True)
    write_page(workshop, [section.__name__ for section in SECTIONS])


if __name__ == "__main__":
    main()
