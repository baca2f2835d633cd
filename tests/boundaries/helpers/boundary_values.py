"""Hostile arguments: wrong in kind, length or range, or objects that lie and act while they are looked at."""

from __future__ import annotations

import array
import collections
import decimal
import pathlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from boundary_objects import World

#: Makes a hostile argument; the world holds the object that is called, for arguments that act on the object.
Maker = Callable[["World"], Any]


class Raises(Exception):
    """Raised by an argument."""


class HostileText(str):
    """A string that compares, hashes, measures and encodes as no string does."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise Raises("eq")

    def __hash__(self) -> int:
        raise Raises("hash")


class LyingText(str):
    """A string that claims to be long, and encodes to no bytes."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1 << 40

    def encode(self, *_: Any, **__: Any) -> Any:
        return 7

    def split(self, *_: Any, **__: Any) -> Any:
        return [3, None]

    def __iter__(self) -> Iterator[str]:
        raise Raises("iter")


class LyingBytes(bytes):
    """Bytes that claim to be long, and decode to no string."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1 << 40

    def __bytes__(self) -> bytes:
        return self

    def decode(self, *_: Any, **__: Any) -> Any:
        return 7


class ShortBytes(bytes):
    """Bytes that claim to be one byte."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __bytes__(self) -> bytes:
        return self


class ShortText(str):
    """A string that encodes to such bytes."""

    __slots__ = ()

    def encode(self, *_: Any, **__: Any) -> bytes:
        return ShortBytes(str(self.__str__()).encode())

    def __len__(self) -> int:
        return 1


class LyingInt(int):
    """An integer whose conversions and comparisons lie."""

    def __index__(self) -> int:
        return 1 << 62

    def __int__(self) -> int:
        return -(1 << 62)

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return -2


class Lengths:
    """A sequence whose length is not the number of its elements."""

    def __init__(self, length: Any, elements: list[Any]) -> None:
        self._length, self._elements = length, elements

    def __len__(self) -> Any:
        if self._length is None:
            raise Raises("len")
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __getitem__(self, at: Any) -> Any:
        return self._elements[at]


class Alternating:
    """A sequence that is longer each time it is asked."""

    def __init__(self) -> None:
        self._asked = 0

    def __len__(self) -> int:
        self._asked += 3
        return self._asked

    def __iter__(self) -> Iterator[int]:
        self._asked += 5
        return iter(range(self._asked))

    def __getitem__(self, at: int) -> int:
        self._asked += 1
        if at >= self._asked:
            raise IndexError
        return at


class Acting:
    """An object that calls a function whenever anything is asked of it, then answers."""

    def __init__(self, act: Callable[[], Any], number: int = 1) -> None:
        self._act, self._number = act, number

    def __index__(self) -> int:
        self._act()
        return self._number

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __len__(self) -> int:
        return self.__index__()

    def __iter__(self) -> Iterator[int]:
        self._act()
        yield 1
        self._act()

    def __eq__(self, other: object) -> bool:
        self._act()
        return False

    def __hash__(self) -> int:
        self._act()
        return 5

    def __str__(self) -> str:
        self._act()
        return "x"

    def __bool__(self) -> bool:
        self._act()
        return True

    def __fspath__(self) -> str:
        self._act()
        return "acting"

    def __reduce__(self) -> Any:
        self._act()
        return int, (7,)

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._act()
        return np.arange(3)

    def __arrow_array__(self, *_: Any, **__: Any) -> Any:
        self._act()
        return pa.array(["a.b"])

    def __lt__(self, other: object) -> bool:
        self._act()
        return False

    __le__ = __gt__ = __ge__ = __lt__


def _fail() -> None:
    raise Raises("acted")


def _generator(elements: list[Any]) -> Iterator[Any]:
    yield from elements
    raise Raises("generator")


class _Arrays:
    """An object that calls itself an array of two dimensions, of floats, or raises."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __array__(self, *_: Any, **__: Any) -> Any:
        if self._answer is None:
            raise Raises("array")
        return self._answer

    __arrow_array__ = __array__

    def __len__(self) -> int:
        return 2


#: Scalars.
_SCALARS: Final[dict[str, Any]] = {
    "None": None,
    "True": True,
    "zero": 0,
    "minus-one": -1,
    "seven": 7,
    "2**31": 1 << 31,
    "2**32-1": (1 << 32) - 1,
    "2**62": 1 << 62,
    "2**63-1": (1 << 63) - 1,
    "2**63": 1 << 63,
    "-2**63": -(1 << 63),
    "-2**63-1": -(1 << 63) - 1,
    "2**64-1": (1 << 64) - 1,
    "2**64": 1 << 64,
    "2**200": 1 << 200,
    "-2**200": -(1 << 200),
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "1.7": 1.7,
    "complex": 1j,
    "decimal": decimal.Decimal("NaN"),
    "empty-str": "",
    "str": "a.b",
    "long-str": "a." * 40_000,
    "wide-str": "\u00e9\U0001f600" * 300,
    "wildcards": "#.#.*.>.+/#",
    "slashes": "a/" * 300,
    "surrogate": "a\ud800",
    "nul-str": "a\0b",
    "newline": "a\nb",
    "dots": "..",
    "empty-bytes": b"",
    "bytes": b"ab",
    "bad-utf8": b"\xff\xfe",
    "long-bytes": b"x" * 2_000_000,
    "bytearray": bytearray(b"ab"),
    "memoryview": memoryview(b"abcd")[::2],
    "ellipsis": ...,
    "type": int,
    "function": len,
    "np-int": np.int64(5),
    "np-uint": np.uint64(1 << 63),
    "np-nan": np.float64("nan"),
    "np-str": np.str_("a.b"),
    "np-bool": np.bool_(True),
    "nat": np.datetime64("NaT"),
    "hostile-str": HostileText("a.b"),
    "lying-str": LyingText("a.b"),
    "lying-bytes": LyingBytes(b"ab"),
    "short-bytes": ShortBytes(b"x" * 100_000),
    "short-str": ShortText("a." * 40_000 + "b"),
    "lying-int": LyingInt(3),
    "path": pathlib.PurePosixPath("nowhere/at/all"),
}

#: NumPy arrays, made anew for each call.
_ARRAYS: Final[dict[str, Callable[[], Any]]] = {
    "np-empty": lambda: np.empty(0, np.int64),
    "np-empty-float": lambda: np.empty(0),
    "np-three": lambda: np.arange(3),
    "np-stepped": lambda: np.arange(10)[::2],
    "np-reversed": lambda: np.arange(10)[::-1],
    "np-0d": lambda: np.array(5),
    "np-2d": lambda: np.arange(6).reshape(2, 3),
    "np-column": lambda: np.arange(12).reshape(4, 3)[:, 1],
    "np-object": lambda: np.array([1, None, "a"], object),
    "np-object-ints": lambda: np.array([1, 2, 3], object),
    "np-object-huge": lambda: np.array([1 << 200, -1], object),
    "np-foreign": lambda: np.arange(5).astype(">i8"),
    "np-foreign-unsigned": lambda: np.arange(5).astype(">u8"),
    "np-huge-foreign": lambda: np.array([1 << 63], ">u8"),
    "np-readonly": lambda: _readonly(np.arange(5)),
    "np-uint64": lambda: np.array([1 << 63, 1], np.uint64),
    "np-2**62": lambda: np.array([1 << 62, -1, 2]),
    "np-int8": lambda: np.arange(5, dtype=np.int8),
    "np-bools": lambda: np.array([True, False]),
    "np-floats": lambda: np.array([1.7, float("nan")]),
    "np-times": lambda: np.array(["NaT", "2020-01-01"], "M8[ns]"),
    "np-texts": lambda: np.array(["a.b", "c.d", ""]),
    "np-bytes": lambda: np.array([b"ab", b"c\0"]),
    "np-records": lambda: np.zeros(2, [("a", "i8"), ("b", "i4")]),
    "np-unaligned": lambda: np.zeros(3, [("a", "i1"), ("b", "i8")])["b"],
    "np-masked": lambda: np.ma.MaskedArray([1, 2, 3], mask=[0, 1, 0]),
    "np-matrix": lambda: np.asmatrix([[1, 2, 3]]),
    "np-broadcast": lambda: np.broadcast_to(np.int64(1), 1 << 20),
}

#: Arrow arrays.
_ARROWS: Final[dict[str, Callable[[], Any]]] = {
    "pa-empty": lambda: pa.array([], pa.int64()),
    "pa-ints": lambda: pa.array([1, 2, 3]),
    "pa-ints-null": lambda: pa.array([1, None, 3]),
    "pa-ints-slice": lambda: pa.array(range(100)).slice(63, 5),
    "pa-null-outside": lambda: pa.array([None, 1, 2, 3, None]).slice(1, 3),
    "pa-uint64": lambda: pa.array([1 << 63], pa.uint64()),
    "pa-int8": lambda: pa.array([1, 2], pa.int8()),
    "pa-bools": lambda: pa.array([True, None, False]),
    "pa-floats": lambda: pa.array([1.7, float("nan")]),
    "pa-texts": lambda: pa.array(["a.b", "c.d", "a.*"]),
    "pa-texts-null": lambda: pa.array(["a.b", None]),
    "pa-texts-slice": lambda: pa.array(["xx", "a.b", "yy", "c", "zz"]).slice(1, 3),
    "pa-texts-empty-slice": lambda: pa.array(["xx", "a.b"]).slice(2, 0),
    "pa-texts-no-buffers": lambda: pa.array([], pa.string()),
    "pa-large-texts": lambda: pa.array(["a.b", "c"], pa.large_string()).slice(1),
    "pa-views": lambda: pa.array(["a.b", "a long text that does not fit"], pa.string_view()),
    "pa-bytes": lambda: pa.array([b"ab", b"\xff"]),
    "pa-large-bytes": lambda: pa.array([b"ab", None, b""], pa.large_binary()),
    "pa-fixed-bytes": lambda: pa.array([b"ab", b"cd"], pa.binary(2)),
    "pa-chunked": lambda: pa.chunked_array([["a.b"], [], ["c", "d"]], pa.string()),
    "pa-chunked-ints": lambda: pa.chunked_array([[1], [2, 3]]),
    "pa-no-chunks": lambda: pa.chunked_array([], pa.int64()),
    "pa-no-chunks-text": lambda: pa.chunked_array([], pa.string()),
    "pa-dictionary": lambda: pa.array(["a.b", "c", "a.b"]).dictionary_encode(),
    "pa-dictionary-null": lambda: pa.array(["a.b", None]).dictionary_encode(),
    "pa-dictionary-ints": lambda: pa.array([1, 2, 1]).dictionary_encode(),
    "pa-nulls": lambda: pa.nulls(3),
    "pa-lists": lambda: pa.array([[1], [2, 3]]),
    "pa-struct": lambda: pa.array([{"a": 1}]),
    "pa-decimal": lambda: pa.array([decimal.Decimal("1.5")]),
    "pa-times": lambda: pa.array([1, 2], pa.timestamp("ns")),
    "pa-run-ends": lambda: pa.RunEndEncodedArray.from_arrays([1, 3], [5, 6]),
    "pa-bad-utf8": lambda: pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 3], np.int32)), pa.py_buffer(b"\xff\xfea")]
    ),
    "pa-table": lambda: pa.table({"a": [1, 2]}),
    "pa-scalar": lambda: pa.scalar(5),
}

#: Collections, and objects that lie.
_COLLECTIONS: Final[dict[str, Callable[[], Any]]] = {
    "list": lambda: [1, 2, 3],
    "empty-list": list,
    "texts": lambda: ["a.b", "c.d"],
    "three-texts": lambda: ["a.b", "c", "x"],
    "mixed": lambda: [1, None, "a", b"b"],
    "huge-list": lambda: [1 << 63, -(1 << 64)],
    "surrogates": lambda: ["a\ud800"],
    "lying-list": lambda: [LyingBytes(b"ab"), LyingBytes(b"cd")],
    "lying-texts": lambda: [LyingText("a.b"), HostileText("c")],
    "short-list": lambda: [ShortBytes(b"x" * 100_000), b"a"],
    "short-texts": lambda: [ShortText("a." * 40_000 + "b"), "a"],
    "memoryviews": lambda: [memoryview(np.arange(4)), memoryview(np.arange(9).reshape(3, 3))],
    "pairs": lambda: [(1, 2), (3, 4)],
    "triples": lambda: [(1, 2, 3)],
    "tuple": lambda: (1, 2),
    "range": lambda: range(3),
    "dict": lambda: {"a": 1, 2: "b"},
    "set": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "deque": lambda: collections.deque([1, 2]),
    "array": lambda: array.array("q", [1, 2, 3]),
    "generator": lambda: (n for n in range(3)),
    "raising-generator": lambda: _generator([1, 2]),
    "raising-texts": lambda: _generator(["a.b", "c.d"]),
    "raising-pairs": lambda: _generator([(1, 2)]),
    "nested": lambda: [[1], [2, [3]]],
    "object": object,
    "too-long": lambda: Lengths(1000, [1, 2]),
    "too-short": lambda: Lengths(1, list(range(1000))),
    "too-short-texts": lambda: Lengths(1, ["a.b"] * 1000),
    "endless-length": lambda: Lengths(1 << 62, [1]),
    "negative-length": lambda: Lengths(-1, [1]),
    "raising-length": lambda: Lengths(None, [1]),
    "float-length": lambda: Lengths(1.5, [1]),
    "growing": Alternating,
    "array-2d": lambda: _Arrays(np.zeros((2, 2))),
    "array-short": lambda: _Arrays(np.arange(1)),
    "array-none": lambda: _Arrays(None),
    "array-text": lambda: _Arrays("ab"),
    "raising": lambda: Acting(_fail),
}

#: Objects of ours, and objects that act on the structure that looks at them.
_WORLDLY: Final[dict[str, Maker]] = {
    "itself": lambda world: world.subject,
    "arena": lambda world: world.arena(),
    "closed-arena": lambda world: world.closed_arena(),
    "ctrie": lambda world: world.other_map(),
    "ring": lambda world: world.other_ring(),
    "subscription": lambda world: world.subscription(7, "a.b", 1),
    "forged-number": lambda world: world.subscription(1 << 70, "a.b", 1),
    "forged-negative": lambda world: world.subscription(-5, "a.b", 1),
    "forged-float": lambda world: world.subscription(1.5, "a.b", 1),
    "forged-pattern": lambda world: world.subscription(1, None, 1),
    "forged-bytes": lambda world: world.subscription(1, b"a.b", 1),
    "forged-long": lambda world: world.subscription(1, "a." * 40_000, 1),
    "forged-surrogate": lambda world: world.subscription(1, "a\ud800", 1),
    "forged-dialect": lambda world: world.dialect(separator="", longest=1 << 62),
    "wide-dialect": lambda world: world.dialect(separator="\u00e9"),
    "number-dialect": lambda world: world.dialect(separator=7, least=None, longest="x"),
    "lying-codec": lambda world: world.codec("LyingCodec"),
    "lying-words": lambda world: world.codec("LyingWords"),
    "closes": lambda world: Acting(world.close),
    "uses": lambda world: Acting(world.use),
    "closes-then-zero": lambda world: Acting(world.close, 0),
    "uses-then-huge": lambda world: Acting(world.use, 1 << 62),
    "list-closes": lambda world: [Acting(world.close)],
    "list-uses": lambda world: [Acting(world.use), Acting(world.use)],
    "generator-closes": lambda world: world.closing([1, 2, 3]),
    "texts-close": lambda world: world.closing(["a.b", "c.d", "e"]),
    "pairs-close": lambda world: world.closing([(1, 2), (3, 4)]),
    "collects": lambda world: Acting(world.collect),
}  # fmt: skip

#: Arguments that change the structure themselves: then it need not be as before.
ACTING: Final = {
    name for name in _WORLDLY if name.startswith(("closes", "uses", "list-", "generator-", "texts-cl", "pairs-"))
}


def _readonly(values: Any) -> Any:
    values.flags.writeable = False
    return values


VALUES: Final[dict[str, Maker]] = {
    **{name: (lambda world, value=value: value) for name, value in _SCALARS.items()},
    **{
        name: (lambda world, make=make: make())
        for name, make in (_ARRAYS | _ARROWS | _COLLECTIONS).items()
    },
    **_WORLDLY,
}  # fmt: skip
