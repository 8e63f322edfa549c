"""The options of the library's table as keywords of Python.

Names, defaults, values and descriptions are those of the rows in headwater/session/options.cc: an
option that is added there is a keyword here, with its place in signatures and docstrings.
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Callable, Iterable, NamedTuple

from headwater import _core


class Row(NamedTuple):
    name: str
    shell_name: str
    type: str
    default: Any
    values: str  # in words; empty for a bool
    help: str

    def parameter(self) -> inspect.Parameter:
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default,
                                 annotation=self.type)

    def entry(self) -> str:
        """Its entry in the docstring of a class."""
        text = self.help
        for row in STREAM:
            if "-" in row.shell_name:
                text = text.replace(row.shell_name, row.name)
        text = f"{text[0].upper()}{text[1:]}."
        if self.values:
            text += f" Values: {self.values}."
        lines = textwrap.fill(text, 92, initial_indent="    ", subsequent_indent="    ",
                              break_on_hyphens=False)
        return f"{self.name} : {self.type}, default {self.default!r}\n{lines}"


STREAM = tuple(Row(**row) for row in _core.stream_options())
ENGINE = tuple(Row(**row) for row in _core.engine_options())


class Keywords:
    """The rows that a function takes as keywords."""

    def __init__(self, function: str, rows: Iterable[Row]):
        self._function = function
        self._rows = {row.name: row for row in rows}

    def __iter__(self):
        return iter(self._rows)

    def complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """What was given, and the defaults of all that was not."""
        for name in given:
            if name not in self._rows:
                raise TypeError(f"{self._function}() got an unexpected keyword argument {name!r}")
        return {name: given.get(name, row.default) for name, row in self._rows.items()}

    def document(self, made: type) -> type:
        """Writes the rows into the signature of the class, where it has **options, and into its
        docstring, where that has a line {options}, or {option_names} for the names alone."""
        signature = inspect.signature(made.__init__)
        plain = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        rows = [row.parameter() for row in self._rows.values()]
        made.__init__.__signature__ = signature.replace(parameters=plain + rows)
        entries = "\n".join(row.entry() for row in self._rows.values())
        names_alone = textwrap.fill(", ".join(self._rows), 96)
        made.__doc__ = inspect.cleandoc(made.__doc__ or "").replace("{options}", entries).replace(
            "{option_names}", names_alone)
        return made


def with_engine_options(function: Callable) -> Callable:
    """Writes the names of the engine's options into a docstring that has {engine_options}."""
    function.__doc__ = (function.__doc__ or "").replace(
        "{engine_options}", ", ".join(f"`{row.name}`" for row in ENGINE))
    return function


def default_of(name: str) -> Any:
    return next(row.default for row in STREAM if row.name == name)


SEED = default_of("seed")
