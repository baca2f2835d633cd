"""Codecs: how Python objects become the words and bytes a Ctrie stores.

Two objects are the same key iff they encode to the same bytes (or the same integer), and the same value for a
conditional operation likewise. Mind this with ``pickle``: ``1``, ``1.0`` and ``True`` are three different keys, and so
may be two equal sets or dicts.
"""

from __future__ import annotations

import io
import operator
import pickle
from abc import ABC, abstractmethod
from typing import Any, ClassVar

#: Largest encoded key and value, in bytes.
MAX_KEY_BYTES = 65_535
MAX_VALUE_BYTES = 4 << 20

INT_MIN = -(1 << 63)
INT_MAX = (1 << 63) - 1


def shown(value: object, limit: int = 60) -> str:
    """`repr` of a value, shortened for a message."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class Codec(ABC):
    """Turns objects of one type into bytes and back; `word` codecs into a 64-bit integer instead.

    `encode` raises TypeError for an object of another type and ValueError for one it cannot represent.
    """

    name: ClassVar[str] = "custom"
    word: ClassVar[bool] = False

    @abstractmethod
    def encode(self, value: Any) -> Any: ...

    @abstractmethod
    def decode(self, stored: Any) -> Any: ...


class IntCodec(Codec):
    """Integers from -2**63 to 2**63 - 1, stored in place. Anything with ``__index__`` but bool is taken."""

    name = "int"
    word = True

    def encode(self, value: Any) -> int:
        if type(value) is int and INT_MIN <= value <= INT_MAX:
            return value
        if isinstance(value, bool):
            raise TypeError(f"expected int, got bool {value!r}")
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"expected int, got {type(value).__name__} {shown(value)}") from None
        if not INT_MIN <= number <= INT_MAX:
            raise ValueError(f"integers must be from -2**63 to 2**63 - 1, got {shown(number)}")
        return number

    def decode(self, stored: int) -> int:
        return stored


class StrCodec(Codec):
    """Strings, as UTF-8."""

    name = "str"

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise TypeError(f"expected str, got {type(value).__name__} {shown(value)}")
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"string {shown(value)} cannot be stored as UTF-8: {error.reason}") from None

    def decode(self, stored: bytes) -> str:
        return stored.decode()


class BytesCodec(Codec):
    """Bytes-like objects."""

    name = "bytes"

    def encode(self, value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, bytearray | memoryview):
            return bytes(value)
        raise TypeError(f"expected bytes, got {type(value).__name__} {shown(value)}")

    def decode(self, stored: bytes) -> bytes:
        return stored


class PickleCodec(Codec):
    """Any object the pickle module takes. Open an arena from elsewhere only if you trust who wrote it.

    Parameters
    ----------
    by_value : bool
        Encode equal parts equally whether or not they are one object, as keys need; recursive objects then fail.
    """

    name = "pickle"

    def __init__(self, by_value: bool = False) -> None:
        self._by_value = by_value

    def encode(self, value: Any) -> bytes:
        try:
            buffer = io.BytesIO()
            pickler = pickle.Pickler(buffer, protocol=5)
            pickler.fast = self._by_value
            pickler.dump(value)
            return buffer.getvalue()
        except Exception as error:
            raise TypeError(f"{type(value).__name__} {shown(value)} cannot be pickled: {error}") from error

    def decode(self, stored: bytes) -> Any:
        return pickle.loads(stored)


_PICKLED_KEYS = PickleCodec(by_value=True)
_BY_NAME: dict[str, Codec] = {c.name: c for c in (IntCodec(), StrCodec(), BytesCodec(), PickleCodec())}


def codec_for(choice: type | str | Codec, *, keys: bool = False) -> Codec:
    """The codec meant by ``int``, ``str``, ``bytes``, one of the names, or a codec itself.

    Raises
    ------
    ValueError
        For anything else, listing what there is.
    """
    if isinstance(choice, Codec):
        if choice.word and type(choice) is not IntCodec:
            raise ValueError(f"{type(choice).__name__} must not set word = True; only integers are stored in place")
        return choice
    name = choice if isinstance(choice, str) else getattr(choice, "__name__", "")
    if name not in _BY_NAME or (isinstance(choice, type) and choice not in (int, str, bytes)):
        raise ValueError(f"no codec for {choice!r}; choose int, str, bytes or 'pickle', or pass a Codec")
    return _PICKLED_KEYS if keys and name == "pickle" else _BY_NAME[name]
