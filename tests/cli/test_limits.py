"""The table of limits: the page has what the code has, and beyond each bound is what the table says."""

import os
import struct
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from cli_processes import python

from latchfree import (
    AMQP,
    KLL,
    MQTT,
    NATS,
    Arena,
    ArenaFull,
    Bloom,
    CountMin,
    Ctrie,
    DirectoryFull,
    InvalidPattern,
    InvalidTopic,
    InverseBloom,
    LimitedMatcher,
    LimitReached,
    LockedTrie,
    MessageRing,
    MinHash,
    RateLimited,
    RateLimiter,
    RetainedTopics,
    RingBuffer,
    RingFull,
    RingStalled,
    ScalableBloom,
    SketchInvalid,
    TopK,
)
from latchfree.arena import header
from latchfree_cli import exits
from latchfree_cli.limits import table as limits
from latchfree_lincheck.watching import tail

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"


@pytest.fixture
def arena(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as made:
        yield made


RETAINED = RetainedTopics(most=2)


def subscribed(**limits):
    """Three subscriptions of one pattern, where each, all, or the subscribers of a topic may be two."""
    matcher = LimitedMatcher(LockedTrie(), **limits)
    for n in range(3):
        matcher.subscribe(f"a{n}" if "each" in limits else "a", "s" if "each" in limits else n)
    return matcher


def doubled(sketch, times=54):
    sketch.add(1)
    for _ in range(times):
        sketch.merge(sketch)


def emptied(limiter):
    for _ in range(2):
        limiter.acquire()


def filled(ring):
    for n in range(3):
        ring.put(n)


def stalled(ring):
    """A put that claimed a cell and never came back."""
    ring._arena.words[ring._ring] += 1
    ring.try_get()


def snapshots_without_end(arena):
    trie, held = Ctrie.create(arena, "m", keys=int, values=int), []
    trie.put(1, 1)
    try:
        while True:
            held.append(trie.snapshot())
    finally:
        assert trie.get(1) == 1
        assert len(held) > 10_000


def followed(bytes_of_a_line):
    with NamedTemporaryFile() as file:
        file.truncate(bytes_of_a_line)
        list(tail.lines(file.name))


#: One step beyond each bound; what fits exactly is in the tests of the part itself, and here where it is quick.
BEYOND = {
    "key of a `Ctrie`": (ValueError, lambda arena: Ctrie(keys=bytes, values=int).put(b"k" * 65_536, 1)),
    "value of a `Ctrie`": (ValueError, lambda arena: Ctrie(keys=int, values=bytes).put(1, b"v" * ((4 << 20) + 1))),
    "integer of a `Ctrie`, ring or sketch": (ValueError, lambda arena: RingBuffer(2).try_put(1 << 63)),
    "snapshots of a map at once": (ArenaFull, snapshots_without_end),
    "arena, least": (ValueError, lambda arena: Arena.anonymous(header.MINIMUM_BYTES - 1)),
    "arena, most": (ValueError, lambda arena: Arena.anonymous(header.MAXIMUM_BYTES + 4096)),
    "what an arena holds": (ArenaFull, lambda arena: Bloom.create(arena, "s", 50_000_000)),
    "structures of an arena": (
        DirectoryFull,
        lambda arena: [InverseBloom.create(arena, f"s{n}", 2) for n in range(65)],
    ),
    "name of a structure": (ValueError, lambda arena: Bloom.create(arena, "n" * 49, 10)),
    "ring": (ValueError, lambda arena: RingBuffer(1 << 26)),
    "values in a ring": (RingFull, lambda arena: filled(RingBuffer(2, when_full="reject"))),
    "message of a ring": (ValueError, lambda arena: MessageRing(2).put(bytes((1 << 28) + 1))),
    "wait for a claimed cell": (RingStalled, lambda arena: stalled(RingBuffer(2, stall_timeout=0.01))),
    "sketch": (ValueError, lambda arena: Bloom(1 << 31, 0.001)),
    "count of one add": (ValueError, lambda arena: CountMin().add("a", 1 << 32)),
    "items in a buffer": (ValueError, lambda arena: Bloom(10).buffered(most=16_385)),
    "item of a `TopK`": (ValueError, lambda arena: TopK(2).add(b"x" * 97)),
    "hashes of a `MinHash`": (ValueError, lambda arena: MinHash(65_537)),
    "items of a `TopK`": (ValueError, lambda arena: TopK(65_537)),
    "layers of a `ScalableBloom`": (ValueError, lambda arena: ScalableBloom(1, most=1 << 30)),
    "rows of a `CountMin` of another library": (
        SketchInvalid,
        lambda arena: CountMin.from_spark(struct.pack(">iqii256q256q", 1, 0, 256, 1, *[1] * 256, *[0] * 256)),
    ),
    "bits of an item of a `Bloom` of Spark": (
        SketchInvalid,
        lambda arena: Bloom.from_spark(struct.pack(">iiiiq", 2, 256, 0, 1, 0)),
    ),
    "items added to a sketch, after a merge": (ValueError, lambda arena: doubled(Bloom(10), 63)),
    "writers of a `KLL`": (ValueError, lambda arena: KLL(writers=65)),
    "items of a `KLL` after a merge": (ValueError, lambda arena: doubled(KLL(0.2))),
    "rate": (ValueError, lambda arena: RateLimiter(1.1e8)),
    "burst": (ValueError, lambda arena: RateLimiter(1, 1 << 32)),
    "tokens granted": (RateLimited, lambda arena: emptied(RateLimiter(1e-6, when_empty="reject"))),
    "subscriptions of one subscriber": (LimitReached, lambda arena: subscribed(each=2)),
    "subscriptions in all": (LimitReached, lambda arena: subscribed(in_all=2)),
    "subscribers of a topic": (LimitReached, lambda arena: subscribed(fan_out=2).match("a")),
    "line of events that are followed": (ValueError, lambda arena: followed(tail.LONGEST + (1 << 17))),
    "retained topics": (LimitReached, lambda arena: [RETAINED.put(topic, 1) for topic in ("a", "b", "c")]),
}
for _dialect in (MQTT, NATS, AMQP):
    _long, _many = "a" * (_dialect.longest + 1), _dialect.separator.join(["a"] * (_dialect.most_words + 1))
    BEYOND[f"topic or pattern, {_dialect.name}"] = InvalidTopic, lambda arena, d=_dialect, t=_long: d.topic(t)
    BEYOND[f"words of a topic or pattern, {_dialect.name}"] = (
        InvalidPattern,
        lambda arena, d=_dialect, t=_many: d.pattern(t),
    )
PROBED = [each for each in limits.LIMITS if each.test == "cli/test_limits.py"]


def test_the_page_has_the_table():
    assert limits.table() in PAGE.read_text(encoding="utf-8")
    assert len({(each.name, each.unit) for each in limits.LIMITS}) == len(limits.LIMITS)
    assert {each.name for each in PROBED} == set(BEYOND)


@pytest.mark.parametrize("limit", PROBED, ids=lambda limit: limit.name)
def test_beyond_a_limit_is_the_error_that_the_table_names(limit, arena):
    error, call = BEYOND[limit.name]
    assert f"`{error.__name__}`" in limit.error
    with pytest.raises(error) as found:
        call(arena)
    assert type(found.value) is error


@pytest.mark.parametrize("limit", [each for each in limits.LIMITS if each not in PROBED], ids=lambda limit: limit.name)
def test_other_limits_are_tested_where_the_table_says(limit):
    text = (PAGE.parents[1] / "tests" / limit.test).read_text(encoding="utf-8")
    assert limit.error.strip("`").split()[0] in text or limit.how.partition("(")[2].strip("=)`") in text


def test_a_closed_pipe_is_silent() -> None:
    read, write = os.pipe()
    os.close(read)
    done = python("-m", "latchfree_cli.limits", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (exits.PIPE_CLOSED, "")
