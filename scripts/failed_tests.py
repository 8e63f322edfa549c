#!/usr/bin/env python3
"""Usage: failed_tests.py BUILD_FOLDER

Repeats the last lines of what each failed test of the last ctest run has printed: among some
thousand tests, theirs are far up.
"""

import pathlib
import re
import sys

LINES = 40


def outputs(log):
    """Name of a test -> what it printed and how it ended, from ctest's log."""
    parts = re.split(r"^\d+/\d+ Test(?:ing)?: (.*)$", log, flags=re.MULTILINE)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2]):
        found[name] = found.get(name, "") + text
    return found


def failed_names(text):
    """Of lines such as 12:name."""
    return [line.split(":", 1)[1] for line in text.splitlines() if ":" in line]


def main(build):
    folder = pathlib.Path(build) / "Testing" / "Temporary"
    printed = outputs((folder / "LastTest.log").read_text(errors="replace"))
    for name in failed_names((folder / "LastTestsFailed.log").read_text()):
        lines = printed.get(name, "").split("\n<end of output>")[0].splitlines()
        print(f"\n--- {name}, its last lines")
        print("\n".join(lines[-LINES:]))


if __name__ == "__main__":
    main(*sys.argv[1:])
