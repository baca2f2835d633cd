"""A small reader of EDN, the data notation of Clojure.

Maps become dicts; vectors and lists tuples; sets frozensets; keywords and symbols `Keyword` and `Symbol`. A vector that
a tag calls a key and a value becomes a `KeyValue`; other tags are dropped, but ``#:jepsen{:f 1}`` is
``{:jepsen/f 1}``. ``(def name [...])`` at the top stands for its vector. https://github.com/edn-format/edn
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_TOKEN: Final = re.compile(
    r"""(?P<blank>[\s,]+|;[^\n]*)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<open>\#?\{|\[|\()
    |(?P<close>[\])}])
    |(?P<discard>\#_)
    |(?P<character>\\(?:newline|return|space|tab|formfeed|backspace|u[0-9A-Fa-f]{4}|\S))
    |(?P<atom>[^\s,;"()\[\]{}\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_INTEGER: Final = re.compile(r"([+-]?(?:0|[1-9][0-9]*))N?")
_DECIMAL: Final = re.compile(r"([+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)M?")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES: Final = {"t": "\t", "r": "\r", "n": "\n", "b": "\b", "f": "\f", "\\": "\\", '"': '"'}
_CHARACTERS: Final = {
    "newline": "\n", "return": "\r", "space": " ", "tab": "\t", "formfeed": "\f", "backspace": "\b"
}  # fmt: skip
_CLOSES: Final = {"{": "}", "#{": "}", "[": "]", "(": ")"}
_GAP: Final = r"[ \t\r\n,]"
_DEFINITION: Final = re.compile(rf"{_GAP}*def{_GAP}+[^\s,;\"()\[\]{{}}\\]+{_GAP}+([\[(])")
_SIMPLE: Final = r'("[^"\\]*"|\[[^\[\]{}()"\\;#]*\]|[^\s,;"()\[\]{}\\#]+)'
_KEYED: Final = frozenset({"#jepsen.independent/tuple", "#jepsen.independent.Tuple", "#clojure.lang.MapEntry"})
_MAX_DEPTH: Final = 100
_MAX_DIGITS: Final = 1000
_USUAL_DIGITS: Final = 19


class EdnError(ValueError):
    """Text that is not EDN: at which line, what was expected and what was found."""

    def __init__(self, line: int, expected: str, got: str) -> None:
        super().__init__(f"line {line}: expected {expected}, got {got}")
        self.line, self.expected, self.got = line, expected, got


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword, such as ``:read``."""

    name: str

    def __repr__(self) -> str:
        return f":{self.name}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol, such as ``read``."""

    name: str


class KeyValue(tuple[Any, Any]):
    """A value with the key that it belongs to, such as ``#jepsen.independent/tuple [3 nil]``."""

    __slots__ = ()


def read_edn(text: str, *, inside: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield the values of a text, each with its line.

    Parameters
    ----------
    text : str
        Any number of values.
    inside : bool
        Whether to yield the elements of a vector or list at the top rather than the vector itself.

    Raises
    ------
    EdnError
        If the text is not EDN.
    """
    reader = _Reader(text, alike=inside)
    while True:
        yield from reader.alike()
        token = reader.next()
        if token is None:
            return
        if inside and token.text in ("[", "("):
            yield from reader.top(token)
        else:
            for value in reader.value(token, 0):
                reader.learn(value)
                yield token.line, value


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


class _Reader:
    """Reads forms. Maps at the top that look like the one before them, as most do, are read by one pattern each."""

    def __init__(self, text: str, alike: bool = False) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._learns = alike
        self._keys: tuple[Keyword, ...] = ()
        self._like: re.Pattern[str] | None = None
        self._atoms: dict[str, Any] = {}

    def learn(self, value: Any) -> None:
        """Note the keys of a map: the next maps may have the same, in the same order."""
        if self._learns and isinstance(value, dict) and value and all(isinstance(key, Keyword) for key in value):
            self._keys = tuple(value)
            pairs = rf"{_GAP}+".join(rf":{re.escape(key.name)}{_GAP}+{_SIMPLE}" for key in self._keys)
            self._like = re.compile(rf"({_GAP}*)\{{{_GAP}*{pairs}{_GAP}*\}}")

    def alike(self) -> Iterator[tuple[int, dict[Keyword, Any]]]:
        """Yield the maps that come next and have the keys of the latest one and simple values."""
        while self._like is not None and (found := self._like.match(self._text, self._at)) is not None:
            gap, *values = found.groups()
            line = self._line + gap.count("\n")
            self._line += self._text.count("\n", self._at, found.end())
            self._at = found.end()
            yield line, dict(zip(self._keys, [self._simple(text, line) for text in values], strict=True))

    def _simple(self, text: str, line: int) -> Any:
        """Return the value of a text without brackets inside brackets, and without escapes."""
        if text[0] == '"':
            return text[1:-1]
        if text.isdigit() and text.isascii() and len(text) <= _USUAL_DIGITS and (text[0] != "0" or len(text) == 1):
            return int(text)  # times and indices, each another one
        if text in self._atoms:
            return self._atoms[text]
        try:
            ((_, value),) = read_edn(text)
        except EdnError as error:
            raise EdnError(line, error.expected, error.got) from None
        self._atoms[text] = value
        return value

    def next(self) -> _Token | None:
        """Return the next token that is not blank, or None at the end."""
        while self._at < len(self._text):
            found = _TOKEN.match(self._text, self._at)
            if found is None or found.lastgroup is None:
                raise EdnError(self._line, "EDN", repr(self._text[self._at : self._at + 20]))
            token = _Token(found.lastgroup, found.group(), self._line)
            self._at = found.end()
            self._line += token.text.count("\n")
            if token.kind != "blank":
                return token
            if token.text.startswith(";:") or (token.text == ";" and self._at == len(self._text)):
                # One bit tells ``;`` from ``{``: this was a map.
                raise EdnError(token.line, "a map, or a comment that begins otherwise", repr(token.text[:60]))
        return None

    def elements(self, close: str, opened: _Token, depth: int) -> Iterator[tuple[int, Any]]:
        """Yield values and their lines until the closing bracket."""
        if depth > _MAX_DEPTH:
            raise EdnError(opened.line, f"at most {_MAX_DEPTH} nested collections", "more")
        while True:
            if depth == 0:
                yield from self.alike()
            token = self.next()
            if token is None:
                raise EdnError(self._line, f"{close!r} for the {opened.text!r} of line {opened.line}", "the end")
            if token.kind == "close":
                if token.text != close:
                    raise EdnError(token.line, repr(close), repr(token.text))
                return
            for value in self.value(token, depth + 1):
                if depth == 0:
                    self.learn(value)
                yield token.line, value

    def top(self, opened: _Token) -> Iterator[tuple[int, Any]]:
        """Yield the values of a vector or list at the top, or of the one in a ``(def name [...])``."""
        definition = _DEFINITION.match(self._text, self._at) if opened.text == "(" else None
        if definition is None:
            yield from self.elements(_CLOSES[opened.text], opened, 0)
            return
        inner = _Token("open", definition[1], self._line + definition[0].count("\n"))
        self._line, self._at = inner.line, definition.end()
        yield from self.elements(_CLOSES[inner.text], inner, 0)
        token = self.next()
        if token is None or token.text != ")":
            raise EdnError(
                self._line, "')' after the vector of a def", "the end" if token is None else repr(token.text)
            )

    def value(self, token: _Token, depth: int) -> list[Any]:
        """Return the value that begins with `token`: a list of one, or of none if it is discarded."""
        match token.kind:
            case "open":
                return [self._collection(token, depth)]
            case "discard":
                self._one(token, depth)
                return []
            case "string":
                return [_ESCAPE.sub(lambda found: self._escape(token, found[1]), token.text[1:-1])]
            case "character":
                name = token.text[1:]
                return [chr(int(name[1:], 16)) if len(name) == 5 and name[0] == "u" else _CHARACTERS.get(name, name)]
            case "atom":
                if token.text.startswith("##"):
                    raise EdnError(token.line, "a number", f"{token.text}, which is no value of a history")
                if token.text.startswith("#"):
                    return [self._tagged(token, depth)]
                return [_atom(token)]
            case _:
                raise EdnError(token.line, "a value", repr(token.text))

    def _tagged(self, tag: _Token, depth: int) -> Any:
        value = self._one(tag, depth)
        if tag.text.startswith("#:"):
            if not isinstance(value, dict):
                raise EdnError(tag.line, f"a map after {tag.text}", repr(value)[:60])
            keys = [_in_namespace(tag.text[2:], key) for key in value]
            return self._distinct(tag, keys, dict(zip(keys, value.values(), strict=True)))
        if tag.text not in _KEYED:
            return value
        if not isinstance(value, tuple) or len(value) != 2:
            raise EdnError(tag.line, f"[key value] after {tag.text}", repr(value)[:60])
        return KeyValue(value)

    def _one(self, before: _Token, depth: int) -> Any:
        """Return the next value, which must come after a tag or ``#_``."""
        if depth > _MAX_DEPTH:
            raise EdnError(before.line, f"at most {_MAX_DEPTH} nested tags", "more")
        values: list[Any] = []
        while not values:
            token = self.next()
            if token is None:
                raise EdnError(self._line, f"a value after {before.text!r}", "the end")
            values = self.value(token, depth + 1)
        return values[0]

    def _collection(self, opened: _Token, depth: int) -> Any:
        items = [value for _, value in self.elements(_CLOSES[opened.text], opened, depth)]
        try:
            if opened.text == "{":
                if len(items) % 2:
                    raise EdnError(opened.line, "a value for every key of a map", f"{len(items)} forms")
                return self._distinct(opened, items[::2], dict(zip(items[::2], items[1::2], strict=True)))
            return self._distinct(opened, items, frozenset(items)) if opened.text == "#{" else tuple(items)
        except TypeError:
            raise EdnError(opened.line, "keys and elements that are no maps", "a map") from None

    @staticmethod
    def _distinct(opened: _Token, items: list[Any], collected: Any) -> Any:
        if len(collected) < len(items):
            seen: set[Any] = set()
            again = next(item for item in items if item in seen or seen.add(item))  # type: ignore[func-returns-value]
            raise EdnError(opened.line, "each key and element once", f"{again!r} twice")
        return collected

    @staticmethod
    def _escape(token: _Token, escape: str) -> str:
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        if escape not in _ESCAPES:
            raise EdnError(token.line, "an escape such as \\n", f"\\{escape}")
        return _ESCAPES[escape]


def _in_namespace(name: str, key: Any) -> Any:
    """Return a key of a map whose namespace was said before it; ``:_/f`` is a key without one."""
    if not isinstance(key, Keyword | Symbol) or ("/" in key.name and not key.name.startswith("_/")):
        return key
    return type(key)(key.name[2:] if key.name.startswith("_/") else f"{name}/{key.name}")


def _atom(token: _Token) -> Any:
    text = token.text
    if text in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[text]
    if text.startswith(":") and len(text) > 1:
        return Keyword(text[1:])
    if number := _INTEGER.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise EdnError(token.line, f"a number of at most {_MAX_DIGITS} digits", f"one of {len(text)}")
        return int(number[1])
    if number := _DECIMAL.fullmatch(text):
        return float(number[1])
    if text[0].isdigit() or text[0] == ":":
        raise EdnError(token.line, "a number, a keyword or a symbol", repr(text))
    return Symbol(text)
