"""The fields of ``"{0.name[key]}".format(it)``: each attribute and item is read as rewritten code reads it."""

from __future__ import annotations

import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from typing import Any, Final

from latchfree_explore.python.hooks.items import item
from latchfree_explore.python.hooks.state import get

_DEEPEST: Final = 2
"""How deep fields stand in fields."""


class _Unclear(Exception):
    """A text is no format, or arguments are missing."""


def evaluated(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], line: int
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a call of ``format`` whose fields are plain numbers, in place of one that reads attributes or items."""
    text = function.__self__
    if not isinstance(text, str) or not ("." in text or "[" in text):
        return function, args, kwargs
    fields = _Fields(args, kwargs, line)
    try:
        plain = fields.without_paths(text)
    except _Unclear:
        return function, args, kwargs  # which raises the error
    return plain.format, tuple(fields.values), {}


class _Fields:
    """The values of fields, from the left.

    Parameters
    ----------
    args, kwargs
        What ``format`` was given.
    line : int

    Attributes
    ----------
    values : list
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], line: int) -> None:
        self._args, self._kwargs, self._line = args, kwargs, line
        self._numbered, self._chosen = 0, False
        self.values: list[Any] = []

    def without_paths(self, text: str, depth: int = 0) -> str:
        """Return a format in which each field is the number of a value."""
        if depth > _DEEPEST:
            raise _Unclear
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError:
            raise _Unclear from None
        done = ""
        for literal, field, spec, conversion in parts:
            done += literal.replace("{", "{{").replace("}", "}}")
            if field is None:
                continue
            number = len(self.values)
            self.values.append(self._value(field))
            done += f"{{{number}{f'!{conversion}' if conversion else ''}"
            done += f":{self.without_paths(spec, depth + 1)}}}" if spec else "}"
        return done

    def _value(self, field: str) -> Any:
        try:
            first, path = formatter_field_name_split(field)
            if first == "":
                first, self._numbered = self._numbered, self._numbered + 1
            elif not isinstance(first, str):
                self._chosen = True
            if self._numbered and self._chosen:
                raise _Unclear
            value = self._kwargs[first] if isinstance(first, str) else self._args[first]
            path = list(path)
        except (LookupError, ValueError):
            raise _Unclear from None
        for by_name, name in path:
            value = get(value, name, self._line) if by_name else item(value, name, self._line)
        return value
