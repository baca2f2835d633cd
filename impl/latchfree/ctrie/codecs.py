"""Codecs: how Python objects become the words and bytes that a Ctrie stores.

Example: `StrCodec` stores ``"tea"`` as the bytes ``b"tea"``, and `IntCodec` stores ``4`` as one 64-bit word.

Rule: two objects are the same key if they encode to the same bytes or the same integer. A conditional operation
compares values in the same way. Mind this rule with ``pickle``: ``1``, ``1.0`` and ``True`` are three different keys,
and two equal sets or dicts may be two keys.
"""

from __future__ import annotations

import io
import operator
import pickle
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

T = TypeVar("T")

#: What a user names a codec of ours by.
CodecName = Literal["int", "str", "bytes", "pickle"]

#: Largest encoded key and value, in bytes.
MAX_KEY_BYTES: Final = 65_535
MAX_VALUE_BYTES: Final = 4 << 20

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1


def shown(value: object, limit: int = 60) -> str:
    """Return the `repr` of a value, shortened for a message."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class Codec(ABC, Generic[T]):
    """Turns objects of type ``T`` into bytes and back.

    Subclass it to store objects of your own: ``class Dates(Codec[date])``.

    Attributes
    ----------
    name : str
        Recorded with a named Ctrie; `Ctrie.open` refuses a codec of another name.
    word : bool
        Whether the stored form is a 64-bit integer; for `IntCodec` only.
    """

    name: ClassVar[str] = "custom"
    word: ClassVar[bool] = False

    @abstractmethod
    def encode(self, value: T) -> Any:
        """Return the stored form of a value: bytes.

        Raises
        ------
        TypeError
            If the value is of another type.
        ValueError
            If the codec cannot represent the value.
        """

    @abstractmethod
    def decode(self, stored: Any) -> T:
        """Return the value of a stored form."""


class IntCodec(Codec[int]):
    """Integers from -2**63 to 2**63 - 1, stored in place. Anything with ``__index__`` but bool is taken."""

    name = "int"
    word = True

    def encode(self, value: Any) -> int:
        """Return the integer, after a check of type and range."""
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
        """Return the integer."""
        return stored


class StrCodec(Codec[str]):
    """Strings, as UTF-8."""

    name = "str"

    def encode(self, value: Any) -> bytes:
        """Return a string as UTF-8."""
        if not isinstance(value, str):
            raise TypeError(f"expected str, got {type(value).__name__} {shown(value)}")
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"string {shown(value)} cannot be stored as UTF-8: {error.reason}") from None

    def decode(self, stored: bytes) -> str:
        """Return the string."""
        return stored.decode()


class BytesCodec(Codec[bytes]):
    """Bytes-like objects."""

    name = "bytes"

    def encode(self, value: Any) -> bytes:
        """Return a bytes-like object as bytes."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, bytearray | memoryview):
            return bytes(value)
        raise TypeError(f"expected bytes, got {type(value).__name__} {shown(value)}")

    def decode(self, stored: bytes) -> bytes:
        """Return the bytes."""
        return stored


class PickleCodec(Codec[Any]):
    """Any object that the pickle module takes. Open an arena from elsewhere only if you trust its writer.

    Parameters
    ----------
    by_value : bool
        Encode equal parts equally whether or not they are one object, as keys need; recursive objects then fail.
    """

    name = "pickle"

    def __init__(self, by_value: bool = False) -> None:
        self._by_value = by_value

    def encode(self, value: Any) -> bytes:
        """Return the pickled object."""
        try:
            buffer = io.BytesIO()
            pickler = pickle.Pickler(buffer, protocol=5)
            pickler.fast = self._by_value
            pickler.dump(value)
            return buffer.getvalue()
        except Exception as error:
            raise TypeError(f"{type(value).__name__} {shown(value)} cannot be pickled: {error}") from error

    def decode(self, stored: bytes) -> Any:
        """Return the object."""
        return pickle.loads(stored)


_PICKLED_KEYS = PickleCodec(by_value=True)
_BY_NAME: dict[str, Codec[Any]] = {c.name: c for c in (IntCodec(), StrCodec(), BytesCodec(), PickleCodec())}


def codec_for(choice: type[T] | str | Codec[T], *, keys: bool = False) -> Codec[T]:
    """Return the codec that a user chose.

    Parameters
    ----------
    choice : type or str or Codec
        ``int``, ``str``, ``bytes``, a `CodecName`, or a codec.
    keys : bool
        Whether the codec is for keys, which are compared by value.

    Returns
    -------
    Codec

    Raises
    ------
    ValueError
        For any other choice; the message lists the choices.
    """
    if isinstance(choice, Codec):
        if choice.word and type(choice) is not IntCodec:
            raise ValueError(f"{type(choice).__name__} must not set word = True; only integers are stored in place")
        return choice
    name = choice if isinstance(choice, str) else getattr(choice, "__name__", "")
    if name not in _BY_NAME or (isinstance(choice, type) and choice not in (int, str, bytes)):
        raise ValueError(f"no codec for {choice!r}; choose int, str, bytes or 'pickle', or pass a Codec")
    return _PICKLED_KEYS if keys and name == "pickle" else _BY_NAME[name]
