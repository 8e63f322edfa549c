#!/usr/bin/env python3
"""Prints the code of a page: its fenced blocks of one language, concatenated.

Usage: scripts/page_code.py PAGE.md LANGUAGE
"""

import pathlib
import re
import sys


def code_of(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    print("\n".join(code_of(pathlib.Path(sys.argv[1]).read_text(), sys.argv[2])), end="")
