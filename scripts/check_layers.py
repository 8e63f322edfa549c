#!/usr/bin/env python3
"""Checks that dependencies between the folders of headwater/ point downward only.

A file may include headers of its own folder and of folders below it in LAYERS. Tests and reference/
(slow reference results for tests) may include anything. A library that is confined to one folder
may be included nowhere else.
"""

import pathlib
import re
import sys

# Top to bottom; folders on the same line must not include each other.
LAYERS = [
    ["session"],
    ["learning", "io"],
    ["engines"],
    ["smoothers"],
    ["filters"],
    ["models"],
    ["emission"],
    ["observations"],
    ["kernels"],
    ["random", "parallel"],
    ["core"],
]
# The beginning of an included name, and the only folder that may include it.
CONFINED = {"hdf5.h": "io", "zlib.h": "io", "hwy/": "kernels", "CLI/CLI.hpp": "cli",
            "Random123/philox.h": "random"}

INCLUDE = re.compile(r'^\s*#include\s+[<"]([^">]+)[">]')


def depth_of(folder):
    for depth, folders in enumerate(LAYERS):
        if folder in folders:
            return depth
    return None


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def complaints(root):
    for path in sorted([*root.glob("headwater/**/*.[ch]*"), *root.glob("cli/*.[ch]*")]):
        parts = path.relative_to(root).parts
        folder = parts[1] if parts[0] == "headwater" and len(parts) > 2 else parts[0]
        for number, included in includes(path):
            where = f"{path.relative_to(root)}:{number}"
            for start, home in CONFINED.items():
                if included.startswith(start) and home != folder:
                    yield f"{where}: {included} is confined to {home}/"
            if folder in ("cli", "reference", "headwater") or path.name.endswith("_test.cc"):
                continue
            if depth_of(folder) is None:
                yield f"{path.relative_to(root)}: folder {folder}/ is not in the list of layers"
                break
            target = included.split("/")
            if target[0] != "headwater" or len(target) < 3 or target[1] == folder:
                continue
            if depth_of(target[1]) is None or depth_of(target[1]) <= depth_of(folder):
                yield f"{where}: {folder}/ may not include {included}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = sorted(set(complaints(root)))
    for line in found:
        print(line, file=sys.stderr)
    print(f"layers: {len(found)} includes point the wrong way" if found else "layers: in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
