"""Codecs: how Python objects become the words and bytes that a Ctrie stores.

Example: `StrCodec` stores ``"tea"`` as the bytes ``b"tea"``, and `IntCodec` stores ``4`` as one 64-bit word.

Rule: two objects are the same key if they encode to the same bytes or the same integer. A codec is *canonical* if equal
values have one encoding; of ours all but ``pickle`` are. Mind this with ``pickle`` keys: ``1``, ``1.0`` and ``True``
are three different keys, and two equal sets or dicts may be two keys. With ``json`` keys ``1.0`` is ``1``, and equal
dicts and lists are one key.

A conditional operation compares the encodings under a canonical codec; otherwise it compares what they decode to by
``==``.
"""

from __future__ import annotations

import io
import operator
import pickle
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from latchfree.arguments import shown

T = TypeVar("T")

#: What a user names a codec of ours by.
CodecName = Literal["int", "str", "bytes", "pickle", "json"]

#: Largest encoded key and value, in bytes.
MAX_KEY_BYTES: Final = 65_535
MAX_VALUE_BYTES: Final = 4 << 20

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1


class Codec(ABC, Generic[T]):
    """Turns objects of type ``T`` into bytes and back.

    Subclass it to store objects of your own: ``class Dates(Codec[date])``.

    Attributes
    ----------
    name : str
        Recorded with a named Ctrie; `Ctrie.open` refuses a codec of another name.
    word : bool
        Whether the stored form is a 64-bit integer; for `IntCodec` only.
    canonical : bool
        Whether equal values have equal stored forms. Then conditional operations compare stored forms, which is
        faster; otherwise they compare decoded values by ``==``.
    """

    name: ClassVar[str] = "custom"
    word: ClassVar[bool] = False
    canonical: ClassVar[bool] = False

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
    canonical = True
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
    canonical = True

    def encode(self, value: Any) -> bytes:
        """Return a string as UTF-8."""
        if not isinstance(value, str):
            raise TypeError(f"expected str, got {type(value).__name__} {shown(value)}")
        try:
            return str.encode(value)  # a subclass may encode otherwise
        except UnicodeEncodeError as error:
            raise ValueError(f"string {shown(value)} cannot be stored as UTF-8: {error.reason}") from None

    def decode(self, stored: bytes) -> str:
        """Return the string."""
        return stored.decode()


class BytesCodec(Codec[bytes]):
    """Bytes-like objects."""

    name = "bytes"
    canonical = True

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
        Encode as keys need: equal parts equally, whether or not they are one object, and an object as what it decodes
        to, such as a view of an array as an array; recursive objects then fail.
    """

    name = "pickle"

    def __init__(self, by_value: bool = False) -> None:
        self._by_value = by_value

    def encode(self, value: Any) -> bytes:
        """Return the pickled object."""
        try:
            stored = self._dump(value)
            if self._by_value and not _is_simple(value):
                for _ in range(_ROUNDS):
                    before, stored = stored, self._dump(pickle.loads(stored))
                    if stored == before:
                        break
            return stored
        except Exception as error:
            raise TypeError(f"{type(value).__name__} {shown(value)} cannot be pickled: {error}") from error

    def _dump(self, value: Any) -> bytes:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, protocol=5)
        pickler.fast = self._by_value
        pickler.dump(value)
        return buffer.getvalue()

    def decode(self, stored: bytes) -> Any:
        """Return the object."""
        return pickle.loads(stored)


class JsonCodec(Codec[Any]):
    """None, bool, int, float, str, and lists, tuples and dicts (with str as keys) of these.

    Values are equal if their JSON is: the keys of dicts are sorted, and a float without a fraction is an integer, so
    ``1.0`` is ``1`` (and comes back as ``1``), but ``True`` is not. NaN and the infinities are refused. Tuples come
    back as lists.

    Parameters
    ----------
    as_key : bool
        Encode as keys need: dicts are refused, and lists come back as tuples, so that all keys are hashable.
    """

    name = "json"
    canonical = True

    def __init__(self, as_key: bool = False) -> None:
        self._as_key = as_key

    def encode(self, value: Any) -> bytes:
        """Return the JSON of a value."""
        import json  # most programs need none of it

        try:
            text = json.dumps(
                self._plain(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
            )
            return text.encode()
        except RecursionError:
            raise ValueError(f"{type(value).__name__} is nested too deeply for JSON, or holds itself") from None
        except ValueError as error:
            raise ValueError(f"{shown(value)} has no JSON: {error}") from None

    def _plain(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        if isinstance(value, dict) and not self._as_key:
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"keys of a dict must be str in JSON, got {type(key).__name__} {shown(key)}")
            return {key: self._plain(item) for key, item in value.items()}
        try:
            return operator.index(value)
        except TypeError:
            dicts = "" if self._as_key else " or dict"
            raise TypeError(
                f"expected None, bool, int, float, str, list{dicts}, got {type(value).__name__} {shown(value)}"
            ) from None

    def decode(self, stored: bytes) -> Any:
        """Return the value of a JSON text."""
        import json

        value = json.loads(stored)
        return _hashable(value) if self._as_key else value


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


#: Types whose pickles are what they decode to, and how often others are decoded and encoded again until they are.
_SIMPLE: Final = frozenset({int, str, bytes, float, bool, type(None), complex})
_ROUNDS: Final = 3


def _is_simple(value: Any) -> bool:
    return type(value) in _SIMPLE or (type(value) is tuple and all(map(_is_simple, value)))


_BY_NAME: dict[str, Codec[Any]] = {
    c.name: c for c in (IntCodec(), StrCodec(), BytesCodec(), PickleCodec(), JsonCodec())
}
_FOR_KEYS: dict[str, Codec[Any]] = {**_BY_NAME, "pickle": PickleCodec(by_value=True), "json": JsonCodec(as_key=True)}


def as_bytes(codec: Codec[Any], encoded: object) -> bytes:
    """Return what a codec encoded to, as bytes.

    Raises
    ------
    TypeError
        If it is something else than bytes.
    """
    if not isinstance(encoded, bytes | bytearray):
        raise TypeError(f"{type(codec).__name__}.encode must return bytes, got {type(encoded).__name__}")
    # Of a subclass, `len` and `bytes` may say anything.
    return encoded if type(encoded) is bytes else b"".join((encoded,))


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
        raise ValueError(f"no codec for {choice!r}; choose int, str, bytes, 'pickle' or 'json', or pass a Codec")
    return (_FOR_KEYS if keys else _BY_NAME)[name]
