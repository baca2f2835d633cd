"""What each codec takes and refuses, alone and through a Ctrie, which a refusal leaves as it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree import Arena, Ctrie
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES, Codec, codec_for

OBJECTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DOMAINS = {
    "int": st.integers(-(1 << 63), (1 << 63) - 1),
    "str": st.text(),
    "bytes": st.binary(),
    "pickle": OBJECTS,
    "json": st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(0.1, 0.9) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
}


@pytest.mark.parametrize("name", DOMAINS)
@given(data=st.data())
def test_decoding_undoes_encoding(name, data):
    codec = codec_for(name)
    item = data.draw(DOMAINS[name])
    assert codec.decode(codec.encode(item)) == item
    assert type(codec.decode(codec.encode(item))) is type(item)


@pytest.mark.parametrize("choice", [int, str, bytes])
def test_a_type_stands_for_its_codec(choice):
    assert codec_for(choice) is codec_for(choice.__name__)


def test_a_codec_stands_for_itself():
    codec = codec_for("pickle")
    assert codec_for(codec) is codec


def test_only_integers_may_be_stored_in_place():
    class InPlace(Reversed):
        word = True

    with pytest.raises(ValueError, match="InPlace must not set word = True"):
        codec_for(InPlace())


@pytest.mark.parametrize("choice", ["float", float, None, 3, type("int", (), {}), type("pickle", (), {})])
def test_any_other_choice_lists_what_there_is(choice):
    with pytest.raises(ValueError, match="choose int, str, bytes, 'pickle' or 'json', or pass a Codec"):
        codec_for(choice)


class Unpicklable:
    def __reduce__(self):
        raise RuntimeError("no way")


REFUSED = [
    ("int", 1 << 63, ValueError, r"integers must be from -2\*\*63 to 2\*\*63 - 1, got 9223372036854775808"),
    ("int", -(1 << 63) - 1, ValueError, r"integers must be .* got -9223372036854775809"),
    ("int", 10**100, ValueError, r"integers must be .* got 10{50,}\.\.\."),
    ("int", True, TypeError, "expected int, got bool True"),
    ("int", np.True_, TypeError, "expected int, got bool"),
    ("int", 1.0, TypeError, "expected int, got float 1.0"),
    ("int", "1", TypeError, "expected int, got str '1'"),
    ("int", None, TypeError, "expected int, got NoneType None"),
    ("str", b"a", TypeError, "expected str, got bytes b'a'"),
    ("str", 1, TypeError, "expected str, got int 1"),
    ("str", "a\ud800", ValueError, r"string 'a\\ud800' cannot be stored as UTF-8: surrogates not allowed"),
    ("bytes", "a", TypeError, "expected bytes, got str 'a'"),
    ("bytes", [1, 2], TypeError, r"expected bytes, got list \[1, 2\]"),
    ("json", b"a", TypeError, "expected None, bool, int, float, str, list( or dict)?, got bytes b'a'"),
    ("json", {1}, TypeError, "expected .*, got set {1}"),
    ("json", [1, float("nan")], ValueError, r"\[1, nan\] has no JSON: Out of range"),
    ("json", -float("inf"), ValueError, "-inf has no JSON: Out of range"),
    ("json", "a\ud800", ValueError, r"'a\\ud800' has no JSON: .* surrogates not allowed"),
    ("pickle", lambda: None, TypeError, "function .* cannot be pickled"),
    ("pickle", Unpicklable(), TypeError, "Unpicklable .* cannot be pickled: no way"),
]


@pytest.mark.parametrize(("codec", "item", "error", "message"), REFUSED)
def test_refusal_says_what_was_expected(codec, item, error, message):
    with pytest.raises(error, match=message):
        codec_for(codec).encode(item)


@pytest.mark.parametrize(("codec", "item", "error", "message"), REFUSED)
def test_refusal_leaves_the_trie_unchanged(arena, codec, item, error, message):
    good = {"int": 1, "str": "k", "bytes": b"k", "pickle": "k", "json": "k"}[codec]
    by_key = Ctrie({good: 5}, keys=codec, values=int, arena=arena)
    for operation in (
        lambda: by_key.__getitem__(item),
        lambda: by_key.get(item),
        lambda: item in by_key,
        lambda: by_key.__setitem__(item, 6),
        lambda: by_key.put_if_absent(item, 6),
        lambda: by_key.replace(item, 5, 6),
        lambda: by_key.__delitem__(item),
        lambda: by_key.remove(item),
        lambda: by_key.pop(item, None),
        lambda: by_key.readonly_snapshot().get(item),
    ):
        with pytest.raises(error, match=f"keys of this Ctrie: {message}"):
            operation()
    assert dict(by_key) == {good: 5}

    by_value = Ctrie({5: good}, keys=int, values=codec, arena=arena)
    for operation in (
        lambda: by_value.__setitem__(5, item),
        lambda: by_value.put(6, item),
        lambda: by_value.setdefault(6, item),
        lambda: by_value.replace(5, item, good),
        lambda: by_value.replace(5, good, item),
        lambda: by_value.remove(5, item),
    ):
        with pytest.raises(error, match=f"values of this Ctrie: {message}"):
            operation()
    assert dict(by_value) == {5: good}


def test_bytes_like_keys_are_bytes(arena):
    trie = Ctrie({b"ab": 1}, keys=bytes, values=int, arena=arena)
    assert trie[bytearray(b"ab")] == 1
    assert trie[memoryview(b"xaxb")[1::2]] == 1
    assert list(trie) == [b"ab"]


@pytest.mark.parametrize("codec", ["str", "bytes", "pickle"])
def test_the_largest_key_fits_and_one_byte_more_does_not(arena, codec):
    trie = Ctrie(keys=codec, values=int, arena=arena)
    unit = "x" if codec == "str" else b"x"
    overhead = len(codec_for(codec, keys=True).encode(unit * 60_000)) - 60_000
    largest = unit * (MAX_KEY_BYTES - overhead)
    trie[largest] = 1
    assert trie[largest] == 1
    for operation in (lambda: trie.get(largest + unit), lambda: trie.put(largest + unit, 1)):
        with pytest.raises(ValueError, match=r"keys of this Ctrie may have at most 65535 encoded bytes, .* has 65536"):
            operation()
    with pytest.raises(ValueError, match=r"keys may have at most 65535 encoded bytes, element 1 has 65536"):
        trie.put_many([unit, largest + unit], [1, 2])
    assert list(trie) == [largest]


@pytest.mark.parametrize("key", [1, "k"])
def test_the_largest_value_fits_and_one_byte_more_does_not(arena, key):
    trie = Ctrie({key: b"small"}, keys=type(key), values=bytes, arena=arena)
    largest = bytes(range(256)) * (MAX_VALUE_BYTES // 256)
    with pytest.raises(ValueError, match=r"values of this Ctrie may have at most 4194304 encoded bytes, .* 4194305"):
        trie[key] = largest + b"x"
    assert trie[key] == b"small"
    trie[key] = largest
    assert trie[key] == largest
    assert trie.replace(key, largest, b"")
    assert trie[key] == b""


@pytest.mark.parametrize("length", [*range(18), 63, 64, 65])
def test_keys_that_differ_in_any_one_byte_differ(arena, length):
    trie = Ctrie(keys=bytes, values=bytes, arena=arena, hash_mask=0)
    base = bytes(length)
    keys = [base, *(base[:k] + b"\1" + base[k + 1 :] for k in range(length)), base + b"\0"]
    for key in keys:
        trie[key] = key[::-1]
    assert len(trie) == len(keys)
    assert all(trie[key] == key[::-1] for key in keys)


class Short(bytes):
    """Bytes that claim to be one byte, and stay what they are when bytes are made of them."""

    def __len__(self):
        return 1

    def __bytes__(self):
        return self


class Text(str):
    """A string that encodes to such bytes."""

    def encode(self, *_):
        return Short(b"\xff\xff")


def test_objects_that_lie_about_their_bytes_are_stored_as_they_are(arena):
    trie = Ctrie(keys=bytes, values=bytes, arena=arena)
    trie.put_many([Short(b"key"), Short(b"tea")], [Short(b"value"), Short(b"pot")])
    trie[Short(b"oat")] = Short(b"meal")
    assert dict(trie) == {b"key": b"value", b"tea": b"pot", b"oat": b"meal"}
    assert trie.get_many([Short(b"key")]) == [b"value"]
    for operation in (
        lambda: trie.put(Short(bytes(MAX_KEY_BYTES + 1)), b""),
        lambda: trie.put(b"k", Short(bytes(MAX_VALUE_BYTES + 1))),
        lambda: trie.put_many([Short(bytes(MAX_KEY_BYTES + 1))], [b""]),
    ):
        with pytest.raises(ValueError, match=r"may have at most \d+ encoded bytes"):
            operation()
    texts = Ctrie(keys=str, values=str, arena=arena)
    texts.put_many([Text("key")], [Text("value")])
    texts[Text("tea")] = Text("pot")
    assert dict(texts) == {"key": "value", "tea": "pot"}


def test_a_codec_that_returns_no_bytes_is_named(arena):
    class Careless(Codec):
        def encode(self, value):
            return value

        def decode(self, stored):
            return stored

    trie = Ctrie(keys=Careless(), values=int, arena=arena)
    for operation in (lambda: trie.get(5), lambda: trie.put("k", 1), lambda: trie.put_many([memoryview(b"k")], [1])):
        with pytest.raises(TypeError, match=r"keys.*: Careless\.encode must return bytes, got (int|str|memoryview)"):
            operation()
    assert len(trie) == 0


class Reversed(Codec):
    """A codec of one's own: strings, stored backwards."""

    name = "reversed"

    def encode(self, value):
        if not isinstance(value, str):
            raise TypeError("expected a string to reverse")
        return value[::-1].encode()

    def decode(self, stored):
        return stored.decode()[::-1]


def test_a_codec_of_ones_own(arena):
    trie = Ctrie({"abc": "xyz"}, keys=Reversed(), values=Reversed(), arena=arena)
    assert dict(trie) == {"abc": "xyz"}
    assert trie.get_many(["abc", "cba"]) == ["xyz", None]
    with pytest.raises(TypeError, match="keys of this Ctrie: expected a string to reverse"):
        trie[1] = "a"
    assert repr(trie) == "<Ctrie of reversed to reversed>"


def test_a_trie_with_a_codec_of_ones_own_can_be_unlinked(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=16 << 20) as arena:
        trie = Ctrie.create(arena, "words", keys=Reversed(), values=int)
        trie["tea"] = 1
        Ctrie.unlink(arena, "words")
        assert arena.structures() == {}
        assert len(trie) == 0
