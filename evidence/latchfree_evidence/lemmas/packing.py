"""Words that hold more than one thing: headers, tagged offsets, entries of blocks, pins, locks."""

from __future__ import annotations

from latchfree.arena import layout
from latchfree.arena.kernels import blocks, epochs
from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import nodes, registry, shape
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word

_KINDS = 16
_SIZES = 1 << 20
_BIRTHS = 1 << 40
_OFFSETS = 1 << 40
_NODE, _ME, _TRIE = 1000, 2000, 5000


def _header(case: Case, code: Code) -> None:
    kind = case.word("kind", below=_KINDS)
    words = case.word("words", below=_SIZES)
    birth = case.word("birth", below=_BIRTHS)
    mem = SymbolicMemory()
    mem.write(_NODE, code[arena_node.header](kind, words, birth))
    case.claim("the kind", code[arena_node.kind_of](mem, Word(_NODE)) == kind)
    case.claim("the size", code[arena_node.size_of](mem, Word(_NODE)) == words)
    case.claim("the birth", code[arena_node.gen_of](mem, Word(_NODE)) == birth)


def _birth_order(case: Case, code: Code) -> None:
    older, younger = case.word("older", below=_BIRTHS), case.word("younger", below=_BIRTHS)
    mem = SymbolicMemory()
    for at, birth in ((_NODE, older), (_NODE + 1, younger)):
        kind, words = case.word(f"kind{at}", below=_KINDS), case.word(f"words{at}", below=_SIZES)
        mem.write(at, code[arena_node.header](kind, words, birth))
    one, other = (code[arena_node.gen_of](mem, Word(at)) for at in (_NODE, _NODE + 1))
    case.claim("headers order as generations do, whatever else they hold", (one < other) == (older < younger))


def _tags(case: Case, code: Code) -> None:
    offset, other = case.word("offset", below=_OFFSETS), case.word("other", below=_OFFSETS)
    case.claim("a tagged offset is a child", bool(code[nodes.is_child](offset | shape.CHILD)))
    case.claim("a bare one is none", not bool(code[nodes.is_child](offset)))
    case.claim("the tag comes off", (offset | shape.CHILD) & shape.UNTAG == offset)
    case.claim("a tagged offset is never a bare one", (offset | shape.CHILD) != other)


def _entry(case: Case, code: Code) -> None:
    node = Word(_NODE)
    kind = case.word("kind", below=_KINDS)
    words = case.word("words", below=_SIZES)
    mem = SymbolicMemory()
    mem.write(_NODE, code[arena_node.header](kind, words, case.word("birth", below=_BIRTHS)))
    entry = code[blocks.entry_for](mem, node)
    case.claim("the node", code[blocks.node_of](entry) == node)
    case.claim("its words", code[blocks.words_of](entry) == words)
    case.claim("it is deferred if it is a holder's", (entry & blocks.DEFERRED != 0) == (kind >= arena_node.HOLDER))
    case.claim("the entry of a holder without anything is not", code[blocks.empty_entry_for](mem, node) >> 60 == 0)
    offset = case.word("offset", below=_OFFSETS)
    case.claim("what is deferred", code[blocks.node_of](offset | blocks.DEFERRED) == offset)


def _pin(case: Case, code: Code) -> None:
    epoch = case.word("epoch", below=1 << 63)
    now = case.word("now", below=1 << 63)
    mem = SymbolicMemory()
    mem.write(layout.H_EPOCH, epoch)
    me = Word(layout.PARTICIPANTS)
    mem.write(me + layout.P_PIN, 0)
    code[epochs.pin](mem, me)
    case.claim("a pin is never the word of nobody", mem.read(me + layout.P_PIN) != 0)
    mem.write(layout.H_EPOCH, now)
    mem.write(layout.H_CLAIMED, 1)
    advanced = code[epochs.try_advance](mem)
    case.claim("a pin holds every epoch but its own", (now == epoch) == bool(advanced))


def _lock(case: Case, code: Code) -> None:
    holder, incarnation = Word(_ME), case.word("incarnation", below=1 << 32)
    now = case.word("now", below=1 << 32)
    mem = SymbolicMemory()
    mem.write(_TRIE + int(shape.DROP_LOCK), 0)
    mem.write(holder + layout.P_INCARNATION, incarnation)
    mem.write(holder + layout.P_STATE, 1)
    case.claim("a free lock is taken", bool(code[registry.lock](mem, Word(_TRIE), holder)))
    mem.write(holder + layout.P_INCARNATION, now)
    other = Word(3000)
    mem.write(other + layout.P_INCARNATION, case.word("others", below=1 << 32))
    taken = bool(code[registry.lock](mem, Word(_TRIE), other))
    case.claim("it is taken over from an earlier owner of the slot alone", taken == (now != incarnation))


LEMMAS = (
    Lemma(
        "header-round-trip",
        "kind, size and birth come out of a header as they went in",
        _header,
        Twin(arena_node.header, "words << SIZE_SHIFT", "words << np.uint64(41)", "sizes are written one bit too high"),
    ),
    Lemma(
        "generation-order",
        "nodes are ordered by generation whatever their kinds and sizes",
        _birth_order,
        Twin(arena_node.gen_of, " & BIRTH_MASK", "", "the whole header is compared"),
    ),
    Lemma(
        "tags-come-off",
        "a tag neither changes an offset nor makes it another one",
        _tags,
        Twin(nodes.is_child, "CHILD", "UNTAG", "any bit but the tag is looked at"),
    ),
    Lemma(
        "entries-round-trip",
        "an entry of a block gives the node, its size, and whether it is deferred",
        _entry,
        Twin(blocks.node_of, "BIRTH_MASK", "np.uint64((1 << 63) - 1)", "the size is taken for part of the offset"),
    ),
    Lemma(
        "pins-hold-the-epoch",
        "the epoch advances past a pin exactly when it is of the current epoch",
        _pin,
        Twin(epochs.try_advance, "word >> _1 != epoch", "word >> _1 > epoch", "older pins are overlooked"),
    ),
    Lemma(
        "locks-know-their-owner",
        "the lock of whoever drops snapshots is taken over only when its owner's slot has changed hands",
        _lock,
        Twin(
            registry.lock,
            ">> _INCARNATION_SHIFT",
            ">> np.uint64(31)",
            "the incarnation is read one bit off",
        ),
    ),
)
