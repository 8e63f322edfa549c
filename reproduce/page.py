"""Sections of the results page, in Markdown."""

import numpy as np

INTRODUCTION = """# Results

This page is written by `./dev reproduce`, which simulates every stream, makes every fit and draws every
picture below. No number is typed in by hand; each stands beside the command that printed it. `./dev
reproduce NAME` makes one section again, and `--quick` tries all sections on short streams.

Errors are root mean squares over the entries of the basis, after matching the columns to the truth,
unless a table says otherwise. Where a table says "over data sets", each data set has its own basis,
activations and counts.
"""


def section(title, *paragraphs):
    return "\n\n".join([f"## {title}", *[text.strip("\n") for text in paragraphs]]) + "\n"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def commands(lines, note=""):
    """The lines that were run; what only looks at a result is left out."""
    shown = [line for line in lines if not line.startswith("headwater show")]
    return "\n".join([*([note] if note else []), "```sh", *shown, "```"])


def printed(line, output):
    """A command and what it printed, as it was."""
    return f"```text\n$ {line}\n{output.strip()}\n```"


def picture(name, text):
    return f"![{text}](figures/{name}.png)"


def spread(values, digits=3):
    """Mean and range."""
    low, high = np.min(values), np.max(values)
    return f"{np.mean(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def write_page(workshop, names):
    """Once every section is there."""
    files = [workshop.sections / f"{name}.md" for name in names]
    missing = [file.stem for file in files if not file.exists()]
    if missing:
        print(f"results.md is written when these have been run too: {', '.join(missing)}")
        return
    page = workshop.docs / "results.md"
    page.write_text("\n".join([INTRODUCTION, *[file.read_text() for file in files]]))
    print(f"wrote {page}")
