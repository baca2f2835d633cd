"""Which programs are interleaved for which group of kernels.

Each is short: two or three threads with one to three operations each. Together they have updates of one key, of one
node, renewal after snapshots, contraction, L-nodes, clear, conditional operations, and readers beside all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.memory_programs import MEMORY, of_memory
from latchfree_evidence.systematic.interleaved.programs import stepping_world, trie_program
from latchfree_evidence.systematic.interleaved.ring_programs import STRICT, WEAK, of_strict_ring, of_weak_ring
from latchfree_evidence.systematic.interleaved.target_programs import LIMITER, SKETCHES, of_targets, texts_of
from latchfree_evidence.systematic.interleaved.topic_programs import TOPICS, of_topics

_ONE: Final = "init: put(0, 1); put(1, 1)"
_TWO: Final = f"{_ONE}; put(2, 1); put(3, 1)"

TRIE: Final = (
    "init: put(0, 1) | put(0, 2) | put(0, 3)",
    "put(0, 1) | put(0, 2) | after: snapshot()",
    "init: put(0, 1) | clear() | put(0, 2) | after: get(0)",
    f"{_ONE} | put(2, 1) | put(0, 2) | after: get(0) | keys: pairs",
    f"{_ONE} | remove(1) | put(1, 2) | after: snapshot() | keys: pairs",
    f"{_ONE} | remove(1) | remove(0) | after: snapshot() | keys: pairs",
    f"{_ONE} | remove(1) | get(0); get(1) | after: size() | keys: pairs",
    f"{_ONE} | remove(1) | size() | after: snapshot() | keys: pairs",
    "init: put(0, 1) | snapshot() | put(0, 2); put(1, 1) | after: snapshot()",
    f"{_ONE}; put(2, 1); snapshot(); put(3, 1) | put(0, 2) | put(2, 2) | after: snapshot() | keys: pairs",
    "init: put(0, 1); put(1, 1); put(2, 1) | remove(0) | put(1, 2) | after: snapshot() | keys: list",
    "init: put(0, 1); put(1, 1) | remove(0) | remove(1) | after: snapshot() | keys: lists",
    f"{_TWO} | remove(1); put(2, 2) | put(0, 2) | after: snapshot() | keys: pairs",
    "init: put(0, 1); put(2, 1); put(5, 1) | remove(2) | snapshot(); get(0) | keys: tree",
    f"{_TWO} | remove(1) | remove(3) | get(2); size() | keys: pairs",
    "init: put(0, 1) | snapshot() | snapshot() | after: size()",
    "init: put(0, 1) | snapshot() | clear() | after: size()",
    "init: put(0, 1) | replace_if(0, 1, 2) | replace_if(0, 1, 3) | after: get(0)",
    "init: put(0, 1) | remove_if(0, 1) | put(0, 1); put(0, 2) | after: get(0)",
    "put_if_absent(0, 1) | put_if_absent(0, 2) | after: get(0)",
    f"{_TWO} | snapshot() | put(0, 2); put(2, 2); put(0, 3); put(2, 3) | keys: pairs",
    "init: put(0, 1) | put(0, 2) | put(1, 3) | snapshot() | after: snapshot()",
    "init: snapshot(); put(0, 1) | snapshot() | snapshot() | after: size()",
    "init: snapshot(); put(0, 1) | size() | put(0, 2) | after: size()",
    f"{_TWO}; snapshot() | remove(1) | get(0); put(1, 5) | after: snapshot() | keys: pairs",
    f"{_TWO} | remove(1) | snapshot(); snapshot() | keys: pairs",
    f"{_ONE} | remove(0) | put_if_absent(0, 5) | replace(1, 6) | after: snapshot() | keys: pairs",
    "init: put(0, 1); put(1, 1) | remove(0) | get(1); put(1, 3) | after: snapshot() | keys: lists",
    "init: put(0, 1) | remove(0) | snapshot(); get(0) | after: snapshot()",
    "init: put(0, 1) | put(0, 2) | snapshot() | clear() | after: snapshot()",
    "init: put(0, 1) | clear() | clear() | put(1, 2) | after: snapshot()",
    f"{_ONE} | put(0, 2) | snapshot(); snapshot() | after: snapshot() | keys: pairs",
    f"{_ONE}; snapshot() | put(0, 2) | put(1, 3) | snapshot() | after: snapshot() | keys: pairs",
    f"bulk {_TWO} | remove(1) | get(0); get(1) | after: snapshot() | keys: pairs",
    "bulk init: put(0, 1) | put(0, 2) | get(0); get(0) | snapshot()",
    f"bulk {_ONE} | snapshot(); put(0, 2) | get(0); get(0) | keys: pairs",
    "bulk init: put(0, 1) | clear() | get(0); get(0)",
    "init: put(0, 1) | clear() | get(0); get(0) | put(0, 2)",
    "init: put(0, 1) | put(0, 2) | get(0); get(0) | snapshot()",
    "init: put(0, 1) | remove(0) | get(0); get(0) | snapshot()",
    "frozen init: put(0, 1) | put(0, 2) | get(0); get(0)",
    "frozen init: put(0, 1); put(1, 1) | remove(1) | get(0); get(1) | keys: pairs",
    "frozen init: put(0, 1); put(1, 1) | remove(1) | get(1) | put(1, 3) | keys: lists",
    "bulk init: put(0, 1); put(1, 1) | remove(0) | get(1); get(0) | keys: list",
)


def _of_trie(replaced: Any, called: Any) -> Callable[[str], Program]:
    from latchfree_evidence.targets.ctrie import CTRIE

    world = stepping_world(replaced, called)
    return lambda text: trie_program(world, CTRIE, text)


IDLE: Final = (
    "init: snapshot() | snapshot() | put(0, 1) | after: stale()",
    "init: snapshot() | snapshot() | put(0, 1); snapshot() | after: stale()",
    "init: snapshot() | snapshot() | snapshot() | after: stale()",
    "put(0, 1) | snapshot(); snapshot() | after: stale()",
    "init: put(0, 1); snapshot() | snapshot(); snapshot() | put(0, 2) | after: stale(); snapshot()",
    "init: put(0, 1); snapshot() | snapshot() | clear() | after: stale(); snapshot()",
    f"{_ONE}; snapshot() | snapshot() | remove(0) | after: stale(); snapshot() | keys: pairs",
)


def _of_idle(replaced: Any, called: Any) -> Callable[[str], Program]:
    from latchfree_evidence.targets.idle import IDLING

    world = stepping_world(replaced, called)
    return lambda text: trie_program(world, IDLING, text)


PROGRAMS: Final[dict[str, tuple[tuple[Callable[[Any, Any], Callable[[str], Program]], tuple[str, ...]], ...]]] = {
    "ctrie": ((_of_trie, TRIE), (_of_idle, IDLE)),
    "arena": ((of_memory, MEMORY), (_of_trie, TRIE[:4])),
    "sketches": ((of_targets, texts_of(SKETCHES)),),
    "mask": (),
    "foreign": (),
    "words": (),
    "objects": (),
    "topics": ((of_topics, TOPICS),),
    "header": (),
    "limiter": ((of_targets, texts_of(LIMITER)),),
    "ring": ((of_strict_ring, STRICT), (of_weak_ring, WEAK)),
}
