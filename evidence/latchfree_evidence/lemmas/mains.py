"""Main nodes made from others, beyond a single slot: tombs, L-nodes, the chain that parts two keys, several children.

Numbers of slots, kinds of slots and first levels are taken in turn; hashes, generations, levels and the words in the
slots are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, product
from typing import Any

from latchfree import words
from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import mains, nodes, shape
from latchfree_evidence.lemmas.slots import OLD, CopiedNode
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word

_NEW = 2000
_CHILDREN, _MAINS = 3000, 5000
_SLOTS, _ENTRIES = int(shape.SLOTS), int(shape.ENTRIES)
_ENTRY, _LIVE, _TOMBED = range(3)
"""What a slot holds: an entry, a child, a child with a tomb."""


def _allocating(code: Code, step: int = 100) -> Code:
    """Return code whose allocations give one place after the other, with so many words between."""
    places = count(_NEW, step)
    return code.abstracting(allocate=lambda mem, me, words: Word(next(places)))


def _header(case: Case, mem: SymbolicMemory, at: int, kind: Any, words: int, gen: Word) -> None:
    header = mem.read(at)
    case.claim("its kind", header >> arena_node.KIND_SHIFT == kind)
    case.claim("its size", (header >> arena_node.SIZE_SHIFT) & arena_node.SIZE_MASK == words)
    case.claim("its generation", header & arena_node.BIRTH_MASK == gen)


def _tomb(case: Case, mem: SymbolicMemory, at: int, snode: Word, gen: Word) -> None:
    """Claim that a node is the tomb of an S-node."""
    _header(case, mem, at, shape.T_NODE, int(shape.T_WORDS), gen)
    case.claim("a tomb holds the entry", mem.read(at + int(shape.TOMBED)) == snode)
    case.claim("a tomb is not pending", mem.read(at + int(shape.PREV)) == 0)


def _is_tomb(mem: SymbolicMemory, at: int) -> bool:
    return bool(mem.read(at) >> arena_node.KIND_SHIFT == shape.T_NODE)


def _updated(case: Case, code: Code, n: int, at: int) -> None:
    node, level = CopiedNode(case, n), case.word("level", below=61)
    whole = _allocating(code).abstracting(popcount=lambda word: Word(n), position=lambda bitmap, flag: Word(at))
    whole[mains.updated_contracted](node.mem, 0, Word(OLD), node.flag, node.slot, level, node.gen)
    lone = bool((level > 0) & (node.slot & shape.CHILD == 0)) if n == 1 else False
    case.claim("only a lone entry below the root is entombed", _is_tomb(node.mem, _NEW) == lone)
    if lone:
        _tomb(case, node.mem, _NEW, node.slot, node.gen)
    else:
        node.holds(case, node.bitmap, [*node.slots[:at], node.slot, *node.slots[at + 1 :]])


def _children(case: Case, node: CopiedNode, kinds: tuple[int, ...]) -> list[Word]:
    """Put entries and children into the slots of a node; return what a compression leaves in each."""
    left = []
    for k, kind in enumerate(kinds):
        i, m, snode = _CHILDREN + 4 * k, _MAINS + 4 * k, case.word(f"tombed{k}", below=1 << 40)
        slot = node.slots[k] & shape.UNTAG if kind == _ENTRY else Word(i) | shape.CHILD
        if kind != _ENTRY:
            node.mem.write(i + int(shape.MAIN), m)
            main_kind = shape.T_NODE if kind == _TOMBED else shape.C_NODE
            node.mem.write(m, (main_kind << arena_node.KIND_SHIFT) | case.word(f"rest{k}", below=1 << 60))
            node.mem.write(m + int(shape.TOMBED), snode)
        node.slots[k] = slot
        node.mem.write(OLD + _SLOTS + k, slot)
        left.append(snode if kind == _TOMBED else slot)
    node.before = dict(node.mem.words)
    return left


def _kinds() -> Iterator[Mapping[str, Any]]:
    for n in (1, 2, 3):
        yield from ({"kinds": kinds} for kinds in product(range(3), repeat=n))
    yield from ({"kinds": ((_ENTRY, _TOMBED, _LIVE) * 22)[:n]} for n in (9, 64))


def _compressed(case: Case, code: Code, kinds: tuple[int, ...]) -> None:
    node, level = CopiedNode(case, len(kinds)), case.word("level", below=61)
    left = _children(case, node, kinds)

    def main_of(mem: SymbolicMemory, trie: Any, i: Word) -> Word:
        return mem.read(i + shape.MAIN)

    whole = _allocating(code).abstracting(popcount=lambda word: Word(len(kinds)), gcas_read=main_of)
    made = whole[mains.compressed](node.mem, 0, 0, Word(OLD), level, node.gen)
    tombs = _TOMBED in kinds
    case.claim("something is made exactly if a child is tombed", (made == _NEW) == tombs)
    case.claim("else nothing", (made == 0) == (not tombs))
    if tombs and len(kinds) == 1 and bool(level > 0):
        _tomb(case, node.mem, _NEW, left[0], node.gen)
    elif tombs:
        node.holds(case, node.bitmap, left)


class _List:
    """An L-node in a memory."""

    def __init__(self, case: Case, n: int) -> None:
        self.mem = SymbolicMemory()
        self.entries = [case.word(f"entry{k}") for k in range(n)]
        self.gen = case.word("gen", below=1 << 40)
        self.mem.write(OLD + int(shape.COUNT), n)
        for k, entry in enumerate(self.entries):
            self.mem.write(OLD + _ENTRIES + k, entry)
        self.before = dict(self.mem.words)

    def holds(self, case: Case, entries: list[Word]) -> None:
        """Claim that the copy has these entries and that the old node is as it was."""
        read = self.mem.read
        _header(case, self.mem, _NEW, shape.L_NODE, _ENTRIES + len(entries), self.gen)
        case.claim("the copy has its count", read(_NEW + int(shape.COUNT)) == len(entries))
        case.claim("the copy is not pending", read(_NEW + int(shape.PREV)) == 0)
        for k, entry in enumerate(entries):
            case.claim(f"entry {k} of the copy", read(_NEW + _ENTRIES + k) == entry)
        case.claim("nothing else is written", len(self.mem.words) == len(self.before) + len(entries) + 3)
        for at, word in self.before.items():
            case.claim("the old node is as it was", read(at) == word)


def _lists(*, past_the_end: bool) -> Iterator[Mapping[str, int]]:
    return ({"n": n, "at": at} for n in (2, 3, 4, 9) for at in range(n + past_the_end))


def _with_entry(case: Case, code: Code, n: int, at: int) -> None:
    old, snode = _List(case, n), case.word("snode")
    new = at == n
    place = mains.NOWHERE if new else at
    _allocating(code)[mains.with_entry](old.mem, 0, Word(OLD), Word(place), snode, old.gen)
    old.holds(case, [*old.entries[:at], snode, *old.entries[at + 1 :]])
    short = code.abstracting(allocate=lambda mem, me, words: Word(0))
    before = dict(old.mem.words)
    made = short[mains.with_entry](old.mem, 0, Word(OLD), Word(place), snode, old.gen)
    case.claim("where memory is short nothing is made", made == 0)
    case.claim("and nothing is written", old.mem.words == before)


def _without_entry(case: Case, code: Code, n: int, at: int) -> None:
    old = _List(case, n)
    _allocating(code)[mains.without_entry](old.mem, 0, Word(OLD), Word(at), old.gen)
    rest = [*old.entries[:at], *old.entries[at + 1 :]]
    if n == 2:
        _tomb(case, old.mem, _NEW, rest[0], old.gen)
        case.claim("nothing else is written", len(old.mem.words) == len(old.before) + 3)
    else:
        old.holds(case, rest)


def _dual(case: Case, code: Code, first: int) -> None:
    """Two entries are parted below a level at which their hashes still agree."""
    a, b, ha, hb = (case.word(name) for name in ("a", "b", "ha", "hb"))
    gen, mem = case.word("gen", below=1 << 40), SymbolicMemory()
    if first:
        case.assume((ha ^ hb) << max(64 - first, 0) == 0 if first < 64 else ha == hb)
    made = _allocating(code)[mains.dual](mem, 0, a, ha, b, hb, Word(first), gen)
    i, level, stride = int(made), first, int(nodes.STRIDE)
    flag_of = code[words.flag_of]
    while True:
        _header(case, mem, i, shape.I_NODE, int(shape.I_WORDS), gen)
        m = int(mem.read(i + int(shape.MAIN)))
        case.claim("a main is not pending", mem.read(m + int(shape.PREV)) == 0)
        if level > int(nodes.LAST_LEVEL):
            _header(case, mem, m, shape.L_NODE, _ENTRIES + 2, gen)
            case.claim("only a list is left for two entries of one hash", ha == hb)
            case.claim("it has two entries", mem.read(m + int(shape.COUNT)) == 2)
            case.claim("the first", mem.read(m + _ENTRIES) == a)
            case.claim("the second", mem.read(m + _ENTRIES + 1) == b)
            return
        fa, fb, bitmap = flag_of(ha, Word(level)), flag_of(hb, Word(level)), mem.read(m + int(shape.BITMAP))
        if m + _SLOTS + 1 in mem.words:
            _header(case, mem, m, shape.C_NODE, _SLOTS + 2, gen)
            case.claim("two slots are of two flags", (bitmap == fa | fb) & (fa != fb))
            lower, higher = (a, b) if bool(fa < fb) else (b, a)
            case.claim("the lower flag's slot comes first", mem.read(m + _SLOTS) == lower)
            case.claim("the higher one's second", mem.read(m + _SLOTS + 1) == higher)
            return
        _header(case, mem, m, shape.C_NODE, _SLOTS + 1, gen)
        case.claim("one slot is of the flag of both", (bitmap == fa) & (bitmap == fb))
        case.claim("it leads on", mem.read(m + _SLOTS) & shape.CHILD != 0)
        i, level = int(mem.read(m + _SLOTS) & shape.UNTAG), level + stride


LEMMAS = (
    Lemma(
        "update-contracts",
        "updating the only slot below the root to an entry makes a tomb, and updates nothing else otherwise",
        _updated,
        Twin(
            mains.updated_contracted,
            " and popcount(peek(mem, c + BITMAP)) == ONE",
            "",
            "an entry among others is entombed",
        ),
        lambda: ({"n": n, "at": at} for n in (1, 2, 3, 9) for at in {0, n // 2, n - 1}),
    ),
    Lemma(
        "compress-takes-tombs-up",
        "compressing takes the entry of each tomb up, keeps the rest, and makes nothing where there is no tomb",
        _compressed,
        Twin(mains.compressed, "slot = peek(mem, m + TOMBED)", "slot = m", "the tomb takes the place of its entry"),
        _kinds,
    ),
    Lemma(
        "list-with-entry",
        "an L-node with an entry more, or with one replaced, has all others in order",
        _with_entry,
        Twin(mains.with_entry, "(count if at == NOWHERE else at)", "count", "the entry is added, not replaced"),
        lambda: _lists(past_the_end=True),
    ),
    Lemma(
        "list-without-entry",
        "an L-node without an entry has all others in order; of two entries the other one is entombed",
        _without_entry,
        Twin(mains.without_entry, "< at else", "<= at else", "the entry after the one removed is lost"),
        lambda: _lists(past_the_end=False),
    ),
    Lemma(
        "two-keys-part",
        "two entries get a chain down to the level where their hashes differ, or to a list if they never do",
        _dual,
        Twin(mains.dual, "SLOTS, a if fa < fb else b)", "SLOTS, a)", "the slots are not in the order of the flags"),
        lambda: ({"first": level} for level in (0, 30, 60, 66)),
    ),
)
