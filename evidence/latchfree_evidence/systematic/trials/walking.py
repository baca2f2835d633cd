"""The nodes that a trie reaches, found by plain Python that knows the shapes and shares no code with the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

TAG: Final = 1 << 63
PLAIN: Final = (1 << 62) - 1
BIRTH: Final = (1 << 40) - 1
I_NODE, C_NODE, T_NODE, L_NODE, S_NODE, PAIR = 1, 2, 3, 4, 5, 12
TABLE_WORDS: Final = 62
ROOT_WORDS: Final = 9
TABLE_SLOTS: Final = 10


def size_of(mem: Any, node: int) -> int:
    """Return the words of a node."""
    return int(mem[node] >> 40 & (1 << 20) - 1)


def kind_of(mem: Any, node: int) -> int:
    """Return the kind of a node."""
    return int(mem[node] >> 60)


def born(mem: Any, node: int) -> int:
    """Return the birth generation of a node."""
    return int(mem[node] & BIRTH)


def slots_of(mem: Any, main: int) -> list[int]:
    """Return the slots of a main node."""
    kind = kind_of(mem, main)
    if kind == C_NODE:
        return [mem[main + 3 + k] for k in range(mem[main + 2].bit_count())]
    if kind == T_NODE:
        return [mem[main + 2]] if mem[main + 2] else []
    if kind != L_NODE:
        raise AssertionError(f"no main node, but of kind {kind}: {main}")
    return [mem[main + 3 + k] for k in range(mem[main + 2])]


def main_of(mem: Any, i: int) -> int:
    """Return the main of an I-node; nothing may be pending."""
    main = mem[i + 1]
    prev = mem[main + 1]
    return int(prev & ~TAG if prev else main)


def below(mem: Any, i: int, oldest: int = 0) -> Iterator[int]:
    """Yield an I-node and all nodes below it that were born in `oldest` or later; nothing may be pending."""
    if kind_of(mem, i) != I_NODE:
        raise AssertionError(f"no I-node: {i}")
    if born(mem, i) >= oldest:
        yield i
    main = main_of(mem, i)
    if born(mem, main) < oldest:
        return
    yield main
    for slot in slots_of(mem, main):
        if slot & TAG:
            yield from below(mem, slot & PLAIN, oldest)
        elif born(mem, slot & PLAIN) >= oldest:
            yield slot & PLAIN


def tables(mem: Any, trie: int) -> Iterator[int]:
    """Yield the tables of a trie's snapshots."""
    table = mem[trie + 3]
    while table:
        if mem[table] != 9 << 60 | TABLE_WORDS << 40:
            raise AssertionError(f"the header of a table: {mem[table]:#x}")
        yield table
        table = mem[table + 1]


def of_trie(mem: Any, trie: int, oldest: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the nodes of a trie that has no snapshots, with their words."""
    if mem[trie + 1] & TAG:
        raise AssertionError("a descriptor was left at the root")
    yield trie, ROOT_WORDS
    for table in tables(mem, trie):
        yield table, TABLE_WORDS
    for node in below(mem, mem[trie + 1], oldest):
        yield node, size_of(mem, node)


def shape(mem: Any, i: int, level: int = 0, *, tombs: bool = False) -> None:
    """Fail unless the tree below an I-node is as small as it can be.

    Below the root no C-node has nothing but an S-node, and there is no tomb, unless somebody has left one behind.
    L-nodes are behind the last level, with two entries or more.
    """
    main = mem[i + 1]
    kind, slots = kind_of(mem, main), slots_of(mem, main)
    if size_of(mem, main) != 3 + (1 if kind == T_NODE else len(slots)) - (kind == T_NODE):
        raise AssertionError(f"the size of main {main}")
    if kind == T_NODE:
        if not tombs or level == 0:
            raise AssertionError(f"a tomb at level {level}")
    elif kind == L_NODE:
        if level != 66 or len(slots) < 2:
            raise AssertionError(f"an L-node of {len(slots)} entries at level {level}")
    elif level > 60 or (level == 60 and mem[main + 2] >> 16):
        raise AssertionError(f"a C-node at level {level}")
    elif level and (not slots or (len(slots) == 1 and not slots[0] & TAG)):
        raise AssertionError(f"a C-node with nothing but an S-node at level {level}")
    for slot in slots:
        if slot & TAG:
            shape(mem, slot & PLAIN, level + 6, tombs=tombs)
