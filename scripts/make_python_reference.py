#!/usr/bin/env python3
"""Writes docs/python.md, the reference of the Python package, from its signatures and docstrings.

    python scripts/make_python_reference.py > docs/python.md

A test of the package compares the file with what this prints.
"""

import inspect
import re

import headwater
import headwater.dask
import headwater.plot

INTRODUCTION = """# The Python package

Install it with `pip install .` in a clone of the repository. [The tutorial](tutorial.ipynb) is the place
to start. This page is written by `scripts/make_python_reference.py` from signatures and docstrings.
"""


def kind(annotation):
    if annotation is inspect.Signature.empty:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__",
                                                                  str(annotation))
    return text.strip("'\"").replace('"', "").replace("_core.", "")


def parameter(given):
    text = given.name
    if given.kind is given.VAR_KEYWORD:
        text = "**" + text
    if given.kind is given.VAR_POSITIONAL:
        text = "*" + text
    if kind(given.annotation):
        text += f": {kind(given.annotation)}"
    if given.default is not given.empty:
        text += f" = {given.default!r}"
    return text


def parameters(signature):
    parts = []
    for given in signature.parameters.values():
        if given.name == "self":
            continue
        has_star = any(part.startswith("*") for part in parts)
        if given.kind is given.KEYWORD_ONLY and not has_star:
            parts.append("*")
        parts.append(parameter(given))
    return parts


def signature(thing, name):
    found = inspect.signature(thing)
    parts = parameters(found)
    returned = kind(found.return_annotation)
    end = f") -> {returned}" if returned else ")"
    line = f"{name}({', '.join(parts)}{end}"
    return line if len(line) <= 96 else f"{name}(\n    " + ",\n    ".join(parts) + end


def described(thing):
    return (inspect.getdoc(thing) or "").strip()


def section(title, thing, level):
    marks = "#" * level
    code = f"```python\n{title}\n```\n"
    name = re.split(r"[(\s:]", title)[0]
    return f"{marks} {name}\n\n{code}\n{as_markdown(described(thing))}\n"


def as_markdown(text):
    """Converts the headings and lists of a NumPy-style docstring to Markdown."""
    text = re.sub(r"^(\w[\w ]*)\n-+$", r"**\1**\n", text, flags=re.M)
    return re.sub(r"^(?P<names>\w[^\n]*(?:\n\w[^\n]*)*)\n(?P<text>(?:    [^\n]*\n?)+)", item, text,
                  flags=re.M)


def item(match):
    names, _, values = " ".join(match["names"].split()).partition(" : ")
    words = " ".join(match["text"].split())
    return f"- `{names}`{f' ({values})' if values else ''}: {words}\n"


def own_parts(thing):
    """The class itself, and what it has from other classes of the package."""
    return [part for part in thing.__mro__ if part.__module__.startswith("headwater")]


def members(thing):
    for name, member in (pair for part in own_parts(thing) for pair in vars(part).items()):
        if name.startswith("_") or not (callable(member) or isinstance(
                member, (property, classmethod, staticmethod))):
            continue
        yield name, member


def class_section(name, thing, is_made_by_users=True):
    yield section(signature(thing, name) if is_made_by_users else name, thing, 2)
    for member_name, member in members(thing):
        if isinstance(member, property):
            title = f"{member_name}: {kind(member.fget.__annotations__.get('return', ''))}"
            if described(member):
                yield section(title, member, 3)
        else:
            function = getattr(thing, member_name)
            if described(function):
                yield section(signature(function, member_name), function, 3)


def reference():
    parts = [INTRODUCTION]
    for name in ("Stream", "OnlineNMF", "Model"):
        parts += class_section(name, getattr(headwater, name))
    parts += class_section("Filter", headwater.Filter, is_made_by_users=False)
    for name in ("simulate", "compare", "check_prior", "list_priors"):
        parts.append(section(signature(getattr(headwater, name), name), getattr(headwater, name), 2))
    parts.append(f"## Prior\n\n{as_markdown(described(headwater.Prior))}\n")
    for name in ("sample_initial", "sample_transition", "activations"):
        function = getattr(headwater.Prior, name)
        parts.append(section(signature(function, name), function, 3))
    parts.append(f"## ConvergenceWarning\n\n{described(headwater.ConvergenceWarning)}\n")
    parts.append(f"## plot\n\n{described(headwater.plot)}\n")
    for name in ("basis", "traces", "activations", "diagnostics", "profile", "forecast", "calibration",
                 "surprise"):
        function = getattr(headwater.plot, name)
        parts.append(section(signature(function, f"plot.{name}"), function, 3))
    for name in ("Statistics", "Round"):
        parts += class_section(name, getattr(headwater, name), is_made_by_users=False)
    parts.append(f"## dask\n\n{described(headwater.dask)}\n")
    for name in ("fit", "fit_each"):
        function = getattr(headwater.dask, name)
        parts.append(section(signature(function, f"dask.{name}"), function, 3))
    return "\n".join(parts)


if __name__ == "__main__":
    print(reference(), end="")
