"""A parser for TLA+ values as TLC prints them, and a printer that writes them on one line.

Every parsed value is immutable and hashable, so that sets of records are Python sets.

============================  =====================================
``-3``, ``TRUE``              int, bool
``"text"``                    str
``w1`` (a model value)        `ModelValue`
``<<1, 2>>``                  tuple
``{1, 2}``, ``1..2``          frozenset
``[a |-> 1]``, ``(k :> 1)``   `Function`
============================  =====================================
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+)|(<<|>>|\|->|:>|@@|\.\.|[{}\[\](),])|([^\W\d]\w*))')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


class ModelValue(str):
    """A model value: an uninterpreted constant such as ``w1``."""

    __slots__ = ()


class Function(Mapping["Value", "Value"]):
    """A TLA+ function or record: an immutable, hashable mapping that equals a dict with the same items."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping["Value", "Value"]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: "Value") -> "Value":
        return self._items[key]

    def __iter__(self) -> Iterator["Value"]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Function({self._items!r})"


Value: TypeAlias = int | bool | str | tuple["Value", ...] | frozenset["Value"] | Function
Json: TypeAlias = int | bool | str | list["Json"] | dict[str, "Json"]


def parse_value(text: str) -> Value:
    """Parse one value.

    Raises
    ------
    ValueError
        If the text is not one value, with the offending place.
    """
    parser = _Parser(text)
    value = parser.value()
    if parser.token:
        raise parser.error("the end of the value")
    return value


class _Parser:
    """Recursive descent with one token of lookahead; `token` is "" at the end."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.start = self.end = 0
        self.token = ""
        self.advance()

    def advance(self) -> None:
        if self.end >= len(self.text):
            self.start, self.token = self.end, ""
            return
        match = TOKEN.match(self.text, self.end)
        if match is None:
            self.token = self.text[self.end :].lstrip()
            self.start = len(self.text) - len(self.token)
            raise self.error("a TLA+ value")
        self.token = match[0].strip()
        self.start, self.end = match.end() - len(self.token), match.end()

    def error(self, expected: str) -> ValueError:
        found = repr(self.token[:20]) if self.token else "the end"
        return ValueError(f"column {self.start + 1}: expected {expected}, got {found} in {self.text[:80]!r}")

    def take(self, token: str) -> None:
        if self.token != token:
            raise self.error(repr(token))
        self.advance()

    def value(self) -> Value:
        token = self.token
        if token == "<<":
            return tuple(self.sequence("<<", ">>"))
        if token == "{":
            return frozenset(self.sequence("{", "}"))
        if token == "[":
            return self.record()
        if token == "(":
            return self.function()
        if token.startswith('"'):
            self.advance()
            return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), token[1:-1])
        if token.lstrip("-").isdigit():
            return self.number()
        if token in ("TRUE", "FALSE"):
            self.advance()
            return token == "TRUE"
        if token.isidentifier():
            self.advance()
            return ModelValue(token)
        raise self.error("a TLA+ value")

    def number(self) -> Value:
        low = int(self.token)
        self.advance()
        if self.token != "..":
            return low
        self.advance()
        if not self.token.lstrip("-").isdigit():
            raise self.error("the upper end of an interval")
        high = int(self.token)
        self.advance()
        return frozenset(range(low, high + 1))

    def sequence(self, opening: str, closing: str) -> Iterator[Value]:
        self.take(opening)
        while self.token != closing:
            yield self.value()
            if self.token != closing:
                self.take(",")
        self.take(closing)

    def record(self) -> Function:
        fields: dict[Value, Value] = {}
        self.take("[")
        while self.token != "]":
            name = self.token
            self.advance()
            self.take("|->")
            fields[name] = self.value()
            if self.token != "]":
                self.take(",")
        self.take("]")
        return Function(fields)

    def function(self) -> Function:
        items: dict[Value, Value] = {}
        self.take("(")
        while True:
            key = self.value()
            self.take(":>")
            items[key] = self.value()
            if self.token == ")":
                self.advance()
                return Function(items)
            self.take("@@")


def show(value: Value) -> str:
    """Return the value in TLA+ on one line; sets are sorted by their elements' text."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case ModelValue() | int():
            return str(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case tuple():
            return f"<<{', '.join(map(show, value))}>>"
        case frozenset():
            return f"{{{', '.join(sorted(map(show, value)))}}}"
        case Function():
            if value and all(_is_field(key) for key in value):
                return f"[{', '.join(f'{key} |-> {show(item)}' for key, item in value.items())}]"
            return f"({' @@ '.join(f'{show(key)} :> {show(item)}' for key, item in value.items())})"


def _is_field(key: Value) -> bool:
    """Whether a function's argument can be the name of a record's field."""
    return isinstance(key, str) and not isinstance(key, ModelValue) and key.isidentifier()


def to_json(value: Value) -> Json:
    """Return the value for a JSON file.

    Sequences and sets become lists (a set's is sorted); records and functions over strings or model values
    become objects, other functions a list of [argument, value] pairs.
    """
    match value:
        case bool() | int():
            return value
        case str():
            return str(value)
        case tuple():
            return [to_json(item) for item in value]
        case frozenset():
            return [to_json(item) for item in sorted(value, key=show)]
        case Function():
            if all(isinstance(key, str) for key in value):
                return {str(key): to_json(item) for key, item in value.items()}
            return [[to_json(key), to_json(item)] for key, item in value.items()]
