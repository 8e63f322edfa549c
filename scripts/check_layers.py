#!/usr/bin/env python3
"""Checks that dependencies between the folders of headwater/ point downward only.

A file may include headers of its own folder and of folders below it in LAYERS. A public header, in
include/headwater/, belongs to the layer that PUBLIC names, and includes public headers only. Tests
and reference/ (slow reference results for tests) may include anything. A library that is confined to
one folder may be included nowhere else.
"""

import pathlib
import re
import sys

# Top to bottom; folders on the same line must not include each other.
LAYERS = [
    ["report"],
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
# The layer of each public header: that of its sources, or a lower one if it only names the classes
# of theirs.
PUBLIC = {
    "session": ["headwater", "session", "config", "model", "inference", "registry", "surprise",
                "round", "score_error", "p_value_ranks", "ranks_by_level",
                "surprise_calibration", "watch"],
    "learning": ["estimate", "m_step_options", "matching", "standard_errors"],
    "io": ["source", "sink"],
    "engines": ["forecast", "prediction"],
    "filters": ["reports"],
    "models": ["any_prior", "concepts", "finite_chain", "prior_arguments", "simulate"],
    "emission": ["any_law", "block_law", "cell_law", "emission", "evidence", "law_table", "reducer",
                 "season"],
    "observations": ["observation"],
    "random": ["random"],
    "core": ["channels", "clone_pointer", "conformance", "error", "export", "matrix", "parameter",
             "particle_choices", "state_archive", "step_size"],
}
# The beginning of an included name, and the only folder that may include it.
CONFINED = {"hdf5.h": "io", "zlib.h": "io", "hwy/": "kernels", "CLI/CLI.hpp": "cli",
            "Random123/philox.h": "random", "microhttpd.h": "cli/serve", "mpi.h": "cli/mpi"}

INCLUDE = re.compile(r'^\s*#include\s+[<"]([^">]+)[">]')
LAYER_OF_PUBLIC = {f"{name}.hpp": layer for layer, names in PUBLIC.items() for name in names}


def depth_of(layer):
    for depth, layers in enumerate(LAYERS):
        if layer in layers:
            return depth
    return None


def layer_of(included):
    """The layer of a header of the project; None for any other."""
    parts = included.split("/")
    if parts[0] != "headwater" or len(parts) < 2:
        return None
    return parts[1] if len(parts) > 2 else LAYER_OF_PUBLIC.get(parts[1], "an unknown layer")


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def complaints_about(path, name, layer, is_public):
    """name: as messages have it; layer: of the file."""
    is_free = layer in ("cli", "cli/serve", "cli/mpi", "reference") or path.name.endswith("_test.cc")
    if not is_free and depth_of(layer) is None:
        yield f"{name}: {layer or 'it'} is not in the list of layers"
        return
    for number, included in includes(path):
        where = f"{name}:{number}"
        for start, home in CONFINED.items():
            if included.startswith(start) and home != layer:
                yield f"{where}: {included} is confined to {home}/"
        target = layer_of(included)
        if is_free or target is None:
            continue
        if is_public and included.count("/") != 1:
            yield f"{where}: a public header may not include {included}"
        if target == layer:
            continue
        if depth_of(target) is None or depth_of(target) <= depth_of(layer):
            yield f"{where}: {layer}/ may not include {included}"


def complaints(root):
    for path in sorted(root.glob("headwater/**/*.[ch]*")):
        parts = path.relative_to(root).parts
        yield from complaints_about(path, "/".join(parts), parts[1], False)
    for path in sorted(root.glob("cli/**/*.[ch]*")):
        name = path.relative_to(root)
        yield from complaints_about(path, str(name), str(name.parent), False)
    headers = root / "include" / "headwater"
    for path in sorted(headers.rglob("*.*")):
        name = str(path.relative_to(root))
        yield from complaints_about(path, name, LAYER_OF_PUBLIC.get(path.name), True)
    for name in LAYER_OF_PUBLIC:
        if not (headers / name).exists():
            yield f"scripts/check_layers.py: there is no public header {name}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = sorted(set(complaints(root)))
    for line in found:
        print(line, file=sys.stderr)
    print(f"layers: {len(found)} mistakes" if found else "layers: in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
