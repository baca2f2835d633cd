"""Damaged files: each is refused with its line, or comes to what a slow reader of its own says that it says."""

import gzip
import random

import pyarrow as pa
import pytest
from lincheck_damage import compared, damaged, flipped, slow, texts, truth

from latchfree_lincheck import History, HistoryFormatError, Operation, read_history, write_history

TEXTS = {format: text.encode() for format, text in texts().items()}
PACKED = {"gzip": gzip.compress, "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}


def outcome(path, data, format):
    """Return the operations that the reader finds, by history, or None if it refuses; nothing else may be raised."""
    path.write_bytes(data)
    error, histories = None, []
    try:
        histories = read_history(path, format)
    except HistoryFormatError as malformed:
        error = malformed
    if error is not None:
        assert 1 <= error.line <= data.count(b"\n") + 1
        assert str(error).startswith(f"{path}:{error.line}: expected ")
        return None
    found = {history.name: [compared(each) for each in history.operations] for history in histories}
    return found if format == "jsonl" else {"h": found["h"]}


def assert_noticed(path, rng, format):
    """Damage a text; return whether it was refused."""
    whole = TEXTS[format]
    before, after = damaged(rng, whole)
    expected, harmless = truth(slow, format, after)
    found = outcome(path, after, format)
    if harmless and found is not None:
        expected = truth(slow, format, before)[0]
    assert found == expected, f"{after!r}"
    return found is None


def assert_packed_noticed(path, rng, format, packing):
    """Damage a packed file; what is read is all of it."""
    whole = PACKED[packing](TEXTS[format])
    if packing == "zstd" or rng.random() < 0.5:
        data = whole[: rng.randrange(4, len(whole))]
    else:
        data = flipped(rng, whole)
    found = outcome(path, data, format)
    assert found is None or found == truth(slow, format, TEXTS[format])[0]
    return found is None


def assert_table_is_read_or_refused(path, rng, table):
    """Damage a Parquet file; one that is cut is refused."""
    cut = rng.random() < 0.5
    path.write_bytes(table[: rng.randrange(len(table))] if cut else flipped(rng, table))
    try:
        histories = read_history(path, "parquet")
    except HistoryFormatError:
        return True
    assert not cut
    assert all(isinstance(history, History) for history in histories)
    return False


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("damage") / "h"


def table_of(path):
    write_history(
        path, [History("h", [Operation(0, "write", (t,), None, 2 * t, 2 * t + 1) for t in range(9)])], "parquet"
    )
    return path.read_bytes()


def damage_many(path, rng, count):
    """Damage files of every format and packing; return how many were refused, by kind."""
    refused = dict.fromkeys([*TEXTS, *PACKED, "parquet"], 0)
    table = table_of(path)
    for turn in range(count):
        format = list(TEXTS)[turn % len(TEXTS)]
        refused[format] += assert_noticed(path, rng, format)
        if turn % 5 == 0:
            packing = rng.choice(list(PACKED))
            refused[packing] += assert_packed_noticed(path, rng, format, packing)
        if turn % 20 == 0:
            refused["parquet"] += assert_table_is_read_or_refused(path, rng, table)
    return refused


def test_the_slow_reader_reads_what_is_whole(path):
    for format, text in TEXTS.items():
        assert outcome(path, text, format) == truth(slow, format, text)[0] is not None


def test_damage_is_noticed(path):
    refused = damage_many(path, random.Random(15), 240)
    assert all(refused.values()), refused


@pytest.mark.slow
def test_much_damage_is_noticed(path, rng):
    refused = damage_many(path, rng, 80_000)  # 100,000 files
    assert all(count > 100 for count in refused.values()), refused
