"""Bulk calls: every kind of input, results in kind, refusals that name the element and change nothing."""

import numpy as np
import pyarrow as pa
import pytest

from latchfree import Ctrie

NUMBERS = {k: 10 * k for k in range(20)}


@pytest.fixture
def trie(arena):
    return Ctrie(NUMBERS, keys=int, values=int, arena=arena)


@pytest.fixture
def texts(arena):
    return Ctrie({"a": "é", "bb": "", "": "empty"}, keys=str, values=str, arena=arena)


# integers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_integers_of_every_width(trie, dtype):
    keys = np.array([3, 100, 5], dtype=dtype)
    found = trie.get_many(keys)
    assert isinstance(found, np.ma.MaskedArray)
    assert found.dtype == np.int64
    assert found.tolist() == [30, None, 50]
    trie.put_many(keys, keys)
    assert [trie[3], trie[100], trie[5]] == [3, 100, 5]
    removed = trie.remove_many(np.array([3, 4, 77], dtype=dtype))
    assert removed.dtype == bool
    assert removed.tolist() == [True, True, False]


def test_a_strided_array(trie):
    assert trie.get_many(np.arange(40)[::2][::-1]).tolist() == [10 * k if k < 20 else None for k in range(38, -1, -2)]


def test_the_extremes(trie):
    ends = np.array([-(1 << 63), (1 << 63) - 1])
    trie.put_many(ends, ends[::-1])
    assert trie.get_many(ends).tolist() == ends[::-1].tolist()
    assert trie[-(1 << 63)] == (1 << 63) - 1


def test_lists_and_other_iterables(trie):
    assert trie.get_many([3, 100]) == [30, None]
    assert trie.get_many((3, 100)) == [30, None]
    assert trie.get_many(range(3)) == [0, 10, 20]
    assert trie.remove_many([3, 100]) == [True, False]
    trie.put_many({100: 0}.keys(), {0: 100}.keys())
    assert trie[100] == 0


def test_an_array_of_objects(trie):
    found = trie.get_many(np.array([3, 100], dtype=object))
    assert found.tolist() == [30, None]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.uint64()])
def test_arrow_integers(trie, kind):
    keys = pa.array([3, 100, 5], kind)
    assert trie.get_many(keys).equals(pa.array([30, None, 50], pa.int64()))
    trie.put_many(keys, pa.array([1, 2, 3], kind))
    assert trie.get_many([3, 100, 5]) == [1, 2, 3]
    assert trie.remove_many(keys).equals(pa.array([True, True, True]))


def test_mixed_kinds_of_keys_and_values(trie):
    trie.put_many(pa.array([1, 2]), [5, 6])
    trie.put_many([3], np.array([7]))
    assert trie.get_many([1, 2, 3]) == [5, 6, 7]


def test_a_key_repeated_is_written_in_order(trie):
    trie.put_many([1, 1, 1], [5, 6, 7])
    assert trie[1] == 7
    assert trie.remove_many([1, 1]) == [True, False]


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (
            np.array([1, 1 << 63], np.uint64),
            ValueError,
            r"keys must be at most 2\*\*63 - 1, element 1 is 92233720368547758",
        ),
        (
            pa.array([1, (1 << 64) - 1], pa.uint64()),
            ValueError,
            r"keys must be at most .* element 1 is 184467440737095",
        ),
        (np.array([1.0]), TypeError, "keys must be integers, got a NumPy array of float64"),
        (np.array([True]), TypeError, "keys must be integers, got a NumPy array of bool"),
        (np.array(["1"]), TypeError, "keys must be integers, got a NumPy array of <U1"),
        (np.array(["2020"], "M8[s]"), TypeError, "keys must be integers, got a NumPy array of datetime64"),
        (np.zeros((2, 2), np.int64), ValueError, r"keys must be a one-dimensional array, got shape \(2, 2\)"),
        (pa.array([1.0]), TypeError, "keys must be integers, got an Arrow array of double"),
        (pa.array([True]), TypeError, "keys must be integers, got an Arrow array of bool"),
        (pa.array(["1"]), TypeError, "keys must be integers, got an Arrow array of string"),
        (pa.array([1, 2, None]), ValueError, "keys must not be null, element 2 is"),
        (pa.array([None, 1, 2, None])[1:], ValueError, "keys must not be null, element 2 is"),
        (pa.chunked_array([[1, 2], [3, None]]), ValueError, "keys must not be null, element 3 is"),
        ([1, 1.5], TypeError, "expected int, got float 1.5"),
        ([1, True], TypeError, "expected int, got bool True"),
        ([1, 1 << 63], ValueError, r"integers must be from -2\*\*63 to 2\*\*63 - 1, got 9223372036854775808"),
        ([[1, 2]], TypeError, r"expected int, got list \[1, 2\]"),
    ],
)
def test_refused_integers_change_nothing(trie, keys, error, message):
    for operation in (trie.get_many, trie.remove_many, lambda k: trie.put_many(k, [0] * len(k) if np.ndim(k) else [0])):
        with pytest.raises(error, match=message):
            operation(keys)
    with pytest.raises(error, match=message.replace("keys", "values")):
        trie.put_many([1, 2, 3, 4], keys)
    assert dict(trie) == NUMBERS


def test_a_list_element_refused_is_named(trie):
    with pytest.raises(TypeError, match=r"keys.* element 1"):
        trie.get_many([1, "x"])


def test_a_masked_element_is_refused_like_a_null(trie):
    masked = np.ma.array([1, 2], mask=[False, True])
    with pytest.raises(ValueError, match=r"keys must not be .* element 1 is"):
        trie.get_many(masked)
    with pytest.raises(ValueError, match=r"values must not be .* element 1 is"):
        trie.put_many([1, 2], masked)


def test_a_duration_is_not_an_integer(trie):
    with pytest.raises(TypeError, match="keys must be integers"):
        trie.get_many(np.array([1], "m8[s]"))


@pytest.mark.parametrize(("keys", "values"), [([1], []), ([], [1]), ([1, 2], [1]), (np.arange(3), pa.array([1]))])
def test_lengths_must_match(trie, keys, values):
    with pytest.raises(ValueError, match=f"got {len(keys)} keys but {len(values)} values"):
        trie.put_many(keys, values)
    assert dict(trie) == NUMBERS


# nothing at all ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("empty", "kind"),
    [
        ([], list),
        (np.array([], np.int64), np.ma.MaskedArray),
        (pa.array([], pa.int64()), pa.Array),
        (pa.chunked_array([], pa.int64()), pa.Array),
    ],
    ids=["list", "numpy", "arrow", "chunked"],
)
def test_nothing_for_nothing(trie, empty, kind):
    assert isinstance(trie.get_many(empty), kind)
    assert len(trie.get_many(empty)) == 0
    assert len(trie.remove_many(empty)) == 0
    trie.put_many(empty, empty)
    assert dict(trie) == NUMBERS


@pytest.mark.parametrize(
    "empty",
    [[], np.array([], "U1"), pa.array([], pa.string()), pa.array(["x"])[1:], pa.chunked_array([], pa.large_string())],
    ids=["list", "numpy", "arrow", "sliced", "chunked"],
)
def test_no_text_for_no_text(texts, empty):
    before = dict(texts)
    assert len(texts.get_many(empty)) == 0
    assert len(texts.remove_many(empty)) == 0
    texts.put_many(empty, empty)
    assert dict(texts) == before


# strings and bytes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_arrow_strings(texts, kind):
    keys = pa.array(["a", "zz", "", "bb"], kind)
    assert texts.get_many(keys).equals(pa.array(["é", None, "empty", ""], pa.large_string()))
    texts.put_many(keys, pa.array(["1", "22", "", "4444"], kind))
    assert dict(texts) == {"a": "1", "zz": "22", "": "", "bb": "4444"}
    assert texts.remove_many(keys[1:3]).to_pylist() == [True, True]
    assert dict(texts) == {"a": "1", "bb": "4444"}


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_arrow_bytes(arena, kind):
    trie = Ctrie({b"a": b"\0\1", b"": b""}, keys=bytes, values=bytes, arena=arena)
    assert trie.get_many(pa.array([b"", b"a", b"b"], kind)).equals(pa.array([b"", b"\0\1", None], pa.large_binary()))
    trie.put_many(pa.array([b"x" * 100], kind), pa.array([b"y" * 1000], kind))
    assert trie[b"x" * 100] == b"y" * 1000


def test_sliced_and_chunked_strings(texts):
    whole = pa.array(["skip", "skip too", "a", "bb", "zz"])
    assert texts.get_many(whole[2:]).to_pylist() == ["é", "", None]
    assert texts.get_many(whole[2:4][1:]).to_pylist() == [""]
    chunked = pa.chunked_array([whole[2:3], whole[3:3], whole[4:]])
    assert texts.get_many(chunked).to_pylist() == ["é", None]
    texts.put_many(whole[1:3], whole[3:])
    assert dict(texts) == {"skip too": "bb", "a": "zz", "bb": "", "": "empty"}


def test_strings_in_lists_and_numpy(texts):
    assert texts.get_many(["a", "zz", ""]) == ["é", None, "empty"]
    found = texts.get_many(np.array(["a", "zz", "bb"]))
    assert found.dtype == object
    assert found.tolist() == ["é", None, ""]
    assert texts.remove_many(np.array(["a", "zz"])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (pa.array([b"a"]), TypeError, "keys must be str, got an Arrow array of binary"),
        (pa.array([1]), TypeError, "keys must be str, got an Arrow array of int64"),
        (pa.array(["a", None]), ValueError, "keys must not be null, element 1 is"),
        (pa.array(["x", "a", None])[1:], ValueError, "keys must not be null, element 1 is"),
        (["a", 1], TypeError, "expected str, got int 1"),
        (["a", None], TypeError, "expected str, got NoneType None"),
        (["a", "\ud800"], ValueError, "cannot be stored as UTF-8"),
        (np.array([1, 2]), TypeError, "expected str, got int 1"),
        (np.array([["a", "b"]]), ValueError, "must be a one-dimensional array"),
    ],
)
def test_refused_strings_change_nothing(texts, keys, error, message):
    before = dict(texts)
    for operation in (texts.get_many, texts.remove_many, lambda k: texts.put_many(k, ["v"] * len(k))):
        with pytest.raises(error, match=message):
            operation(keys)
    assert dict(texts) == before


def test_objects_come_back_in_kind(arena):
    trie = Ctrie({"a": (1, 2), "b": None, 3: [4]}, arena=arena)
    assert trie.get_many(["a", "b", 3, "missing"]) == [(1, 2), None, [4], None]
    found = trie.get_many(np.array(["a", "missing"]))
    assert found.tolist() == [(1, 2), None]
    assert trie.get_many(pa.array(["a", "missing"])).to_pylist() == [[1, 2], None]


def test_integers_to_bytes_and_back(arena):
    trie = Ctrie(keys=int, values=bytes, arena=arena)
    sizes = [0, 1, 7, 8, 9, 100, 5000]
    trie.put_many(np.arange(len(sizes)), pa.array([bytes([k % 256]) * k for k in sizes]))
    assert trie.get_many(list(range(len(sizes) + 1))) == [*(bytes([k % 256]) * k for k in sizes), None]


def test_more_than_one_slice(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    count = (1 << 16) + 5
    keys = np.arange(count)
    trie.put_many(keys % 1000, keys)
    assert trie.get_many(keys[:1000]).tolist() == [
        next(n for n in range(count - 1, -1, -1) if n % 1000 == k) for k in range(1000)
    ]
    found = trie.get_many(keys)
    assert found.count() == 1000
    assert trie.remove_many(keys).sum() == 1000
    assert len(trie) == 0


def _of_buffers(kind, length, *buffers):
    return pa.Array.from_buffers(kind, length, [None, *map(pa.py_buffer, buffers)])


def _broken():
    """Arrays whose offsets lead astray, or that are no UTF-8; Arrow looks at the first and the last offset only."""
    for kind, width in ((pa.large_string(), np.int64), (pa.string(), np.int32), (pa.large_binary(), np.int64)):
        for offsets in ([0, 1 << 30, 3], [0, 3, 1, 3], [0, -9, 3]):
            yield _of_buffers(kind, len(offsets) - 1, np.array(offsets, width), b"abc")
    yield _of_buffers(pa.large_string(), 1, np.array([0, 2]), b"\xff\xfe")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("codec", [int, str, bytes, "pickle", "json"])
def test_a_broken_arrow_array_is_refused_before_it_is_read(arena, codec, chunked):
    by_key = Ctrie(keys=codec, values=int, arena=arena)
    by_value = Ctrie(keys=int, values=codec, arena=arena)
    for broken in _broken():
        column = pa.chunked_array([broken, broken]) if chunked else broken
        for operation in (
            lambda column=column: by_key.get_many(column),
            lambda column=column: by_key.put_many(column, range(len(column))),
            lambda column=column: by_key.remove_many(column),
            lambda column=column: by_value.put_many(range(len(column)), column),
        ):
            with pytest.raises(ValueError, match=r"(keys|values) must be a valid Arrow array: "):
                operation()
    assert len(by_key) == len(by_value) == 0


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (np.array(5), ValueError, r"one-dimensional array, got shape \(\)"),
        (np.zeros((2, 2), np.int64), ValueError, r"one-dimensional array, got shape \(2, 2\)"),
        (5, TypeError, "must be an Arrow or NumPy array or a sequence, got int"),
        (None, TypeError, "must be an Arrow or NumPy array or a sequence, got NoneType"),
        (np.array([1, None]), TypeError, "element 1: expected int, got NoneType None"),
        (np.array([1.5]), TypeError, "must be integers, got a NumPy array of float64"),
        (np.array([(1, 2)], "i8,i8"), TypeError, "must be integers, got a NumPy array of"),
        (pa.array([1, None]), ValueError, "must not be null, element 1 is"),
        (pa.nulls(2), ValueError, "must not be null, element 0 is"),
        (pa.chunked_array([[1], [None]], pa.int64()), ValueError, "must not be null, element 1 is"),
        (pa.array([1, 1]).dictionary_encode(), TypeError, "must be integers, got an Arrow array of dictionary"),
    ],
)
def test_what_is_no_column_of_integers_is_refused(arena, keys, error, message):
    trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    for operation in (
        lambda: trie.get_many(keys),
        lambda: trie.put_many(keys, [1, 2]),
        lambda: trie.put_many([1, 2], keys),
        lambda: trie.remove_many(keys),
    ):
        with pytest.raises(error, match=message):
            operation()
    assert dict(trie) == {1: 1}
