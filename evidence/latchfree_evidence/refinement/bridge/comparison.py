"""Compare the memory of a trie with a state of `Ctrie.tla`: they must be the same, but for addresses.

Example: in the state, the root is node 1 and its main is node 4; in the memory, the root is at word 2048 and its main
at word 2176. So 1 stands for 2048 and 4 for 2176. If the memory led from another node to word 2176 where the state
leads to node 5, there would be a difference.

The comparison starts from the root, and from every address that a process is about to read, expect or write. It follows
both memories side by side and notes which address stands for which. Each address may stand for one other only, so the
two graphs are isomorphic if there is no difference. Generations need not be equal numbers; they must have the same
order.

A slice of a hash is one bit in the specification and six bits in the code. The keys here use only the lowest of the
six, so a C-node has at most slots 0 and 1 of its 64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import gcas, shape
from latchfree.ctrie.kernels.snode import VALUE

_KIND_SHIFT: Final = int(arena_node.KIND_SHIFT)
_BIRTH: Final = int(arena_node.BIRTH_MASK)
_TAG: Final = int(shape.TAG)
_UNTAG: Final = int(shape.UNTAG)
_MAIN, _PREV, _BITMAP, _SLOTS = int(shape.MAIN), int(shape.PREV), int(shape.BITMAP), int(shape.SLOTS)
_TOMBED, _COUNT, _ENTRIES = int(shape.TOMBED), int(shape.COUNT), int(shape.ENTRIES)
_VALUE: Final = int(VALUE)
_STATUS_AT: Final = int(gcas.STATUS)
_STATUS: Final = {
    int(gcas.UNDECIDED): "UNDECIDED",
    int(gcas.COMMIT): "COMMIT",
    int(gcas.ABORT): "ABORT",
}
_KINDS: Final = {
    "I": int(shape.I_NODE),
    "C": int(shape.C_NODE),
    "T": int(shape.T_NODE),
    "L": int(shape.L_NODE),
    "D": int(shape.RDCSS),
}
_NAMES: Final = {kind: f"{name}-node" for name, kind in _KINDS.items()}


class Difference(Exception):
    """The memory differs from the specification; the message says where and how."""


class Comparison:
    """A comparison of one state with the memory; each is used once.

    Parameters
    ----------
    heap : mapping
        ``mem`` of the state: ``root`` and the sequence ``node``.
    words : sequence of int
        The memory, a word each.
    trie : int
        The word offset of the trie's root node.
    keys : mapping
        The number of each of the specification's keys in the code.
    """

    def __init__(self, heap: Mapping[Any, Any], words: Sequence[int], trie: int, keys: Mapping[Any, int]) -> None:
        self._nodes = heap["node"]
        self._words = words
        self._trie = trie
        self._keys = keys
        self._code: dict[int, int] = {}
        self._spec: dict[int, int] = {}
        self._gens: dict[int, int] = {}
        self._left: list[tuple[int, int]] = []
        self._same_root_word(heap["root"], words[trie + int(shape.ROOT_WORD)], "root")

    @property
    def addresses(self) -> Mapping[int, int]:
        """For each address of the specification that was met, the offset that it stands for."""
        return self._code

    def check(self) -> None:
        """Compare all that can be reached.

        Raises
        ------
        Difference
            At the first difference.
        """
        while self._left:
            a, x = self._left.pop()
            self._same_node(self._nodes[a - 1], a, x)
        order = sorted(self._gens.items())
        code = [gen for _, gen in order]
        if code != sorted(set(code)):
            raise Difference(f"generations {[gen for gen, _ in order]} are {code} in the code")

    def same(self, a: int, x: int, where: str) -> None:
        """Note that address `a` of the specification is offset `x` of the code."""
        if self._code.get(a, x) != x or self._spec.get(x, a) != a:
            raise Difference(f"{where}: the specification has node {a}, the code another one ({x})")
        if a not in self._code:
            if (a == 0) != (x == 0) or x >= len(self._words):
                raise Difference(f"{where}: the specification has node {a}, the code {x}")
            self._code[a], self._spec[x] = x, a
            if a:
                self._left.append((a, x))

    def _same_root_word(self, a: int, word: int, where: str) -> None:
        if (self._nodes[a - 1]["t"] == "D") != bool(word & _TAG):
            what = "a descriptor" if word & _TAG else "an I-node"
            raise Difference(f"{where}: {what}, but in the specification a {self._nodes[a - 1]['t']}-node")
        self.same(a, word & _UNTAG, where)

    def _same_prev(self, a: int, word: int, where: str) -> None:
        if (a < 0) != bool(word & _TAG):
            raise Difference(f"{where}: {_prev_name(a)} in the specification, {_prev_word(word)} in the code")
        self.same(abs(a), word & _UNTAG, where)

    def _same_node(self, node: Mapping[Any, Any], a: int, x: int) -> None:
        words, kind = self._words, node["t"]
        where = f"{kind}-node {a}"
        if words[x] >> _KIND_SHIFT != _KINDS[kind]:
            raise Difference(f"{where}: a {_NAMES.get(words[x] >> _KIND_SHIFT, 'thing of no kind')} in the code")
        if kind == "I":
            if self._gens.setdefault(node["gen"], words[x] & _BIRTH) != words[x] & _BIRTH:
                raise Difference(f"{where}: generation {node['gen']} is two generations in the code")
            self.same(node["main"], words[x + _MAIN], f"main of {where}")
        elif kind == "D":
            for offset, field in ((gcas.OLD, "ov"), (gcas.EXPECTED, "exp"), (gcas.NEW, "nv")):
                self.same(node[field], words[x + int(offset)], f"{field} of {where}")
            if _STATUS[words[x + _STATUS_AT]] != node["status"]:
                raise Difference(f"{where}: {node['status']}, but {_STATUS[words[x + _STATUS_AT]]} in the code")
        else:
            self._same_prev(node["prev"], words[x + _PREV], f"prev of {where}")
            if kind == "C":
                self._same_slots(node["slot"], x, where)
            elif kind == "T":
                self._same_entries({node["snode"]}, [words[x + _TOMBED]], where)
            else:
                first = x + _ENTRIES
                self._same_entries(node["entries"], words[first : first + words[x + _COUNT]], where)

    def _same_slots(self, slots: Sequence[Any], x: int, where: str) -> None:
        words = self._words
        bitmap = words[x + _BITMAP]
        if bitmap != sum(1 << k for k, slot in enumerate(slots) if slot):
            raise Difference(f"{where}: slots {slots}, but bitmap {bitmap:#b} in the code")
        at = x + _SLOTS
        for slot in slots:
            if slot:
                word = words[at]
                at += 1
                if (len(slot) == 1) != bool(word & _TAG):
                    raise Difference(
                        f"{where}: a slot holds {slot}, in the code {'' if word & _TAG else 'not '}a child"
                    )
                if word & _TAG:
                    self.same(slot[0], word & _UNTAG, f"child of {where}")
                else:
                    self._same_entries({slot}, [word], where)

    def _same_entries(self, entries: Any, snodes: Sequence[int], where: str) -> None:
        held = {(word >> 8, word & 255) for word in (self._words[s + _VALUE] for s in snodes)}
        wanted = {(self._keys[key], value) for key, value in entries}
        if held != wanted:
            raise Difference(f"{where}: (key, value) {sorted(wanted)}, in the code {sorted(held)}")

    # what a process is about to do ----------------------------------------------------------------------------------

    def same_access(self, pc: str, regs: Mapping[Any, Any], at: int, expected: int, operand: int) -> None:
        """Note what the access of action `pc` touches, expects and would write; `regs` are its process's registers."""
        nodes = self._nodes
        if pc in ("RdcssRead", "CompleteReadRoot"):
            self._at(pc, at, self._trie + int(shape.ROOT_WORD))
        elif pc in ("RdcssInstall", "RdcssSwing", "CompleteAbortRoot"):
            self._at(pc, at, self._trie + int(shape.ROOT_WORD))
            d = regs["ad"] if pc == "CompleteAbortRoot" else regs["rd"]
            new, ov = nodes[d - 1]["nv"], nodes[d - 1]["ov"]
            if pc == "RdcssInstall":
                self._same_root_word(ov, expected, f"{pc}: expected")
                self._same_root_word(d, operand, f"{pc}: new")
            else:
                self._same_root_word(d, expected, f"{pc}: expected")
                target = new if nodes[d - 1]["status"] == "COMMIT" else ov
                self._same_root_word(target, operand, f"{pc}: new")
        elif pc in ("RdcssReadStatus", "RdcssDecide", "CompleteAbortStatus"):
            self.same(regs["ad"] if pc == "CompleteAbortStatus" else regs["rd"], at - _STATUS_AT, pc)
            want = "ABORT" if pc == "CompleteAbortStatus" else regs["want"]
            if pc != "RdcssReadStatus" and _STATUS[operand] != want:
                raise Difference(f"{pc}: {want}, but the code would write {_STATUS[operand]}")
        elif pc in ("GcasReadMain", "CompleteRereadMain"):
            self.same(regs["gi"], at - _MAIN, pc)
        elif pc == "GcasCas":
            self.same(regs["gi"], at - _MAIN, pc)
            self.same(nodes[regs["n"] - 1]["prev"], expected, f"{pc}: expected")
            self.same(regs["n"], operand, f"{pc}: new")
        elif pc == "CompleteRollback":
            self.same(regs["gi"], at - _MAIN, pc)
            self.same(regs["gm"], expected, f"{pc}: expected")
            self.same(abs(regs["gp"]), operand, f"{pc}: new")
        elif pc in ("GcasReadPrev", "CompleteReadPrev", "CompleteCommit", "CompleteFail"):
            self.same(regs["gm"], at - _PREV, pc)
            if pc in ("CompleteCommit", "CompleteFail"):
                self._same_prev(regs["gp"], expected, f"{pc}: expected")
                self._same_prev(0 if pc == "CompleteCommit" else -regs["gp"], operand, f"{pc}: new")
        elif pc == "GcasReadPrevAfter":
            self.same(regs["n"], at - _PREV, pc)
        else:
            raise Difference(f"no access is known by the name {pc}")

    def _at(self, pc: str, at: int, wanted: int) -> None:
        if at != wanted:
            raise Difference(f"{pc}: the code is about to touch word {at}, not the root word")


def _prev_name(a: int) -> str:
    return "null" if a == 0 else "failed" if a < 0 else "pending"


def _prev_word(word: int) -> str:
    return "null" if word == 0 else "failed" if word & _TAG else "pending"
