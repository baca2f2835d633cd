"""The shape of a topic trie, looked at node by node, by plain Python that knows the digits of every pattern.

Example: after ``a/b`` and ``a/c`` were subscribed, the branch of ``a`` has a C-node of two S-nodes. If one is taken
away, the C-node is a tomb instead, for below the root an S-node is never alone.

`Shape` shares no code with the kernels but `mix`. It looks at each node: its kind, its words, the digits on the way to
it, and whether it should be there at all.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from latchfree.topics.concurrent.kernels import digits
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.topic_texts import digit_of, mixed

#: Subscriptions: number -> pattern and subscriber.
Held: TypeAlias = dict[int, tuple[str, int]]
#: By number: the digits on the way to an S-node, and the lower bits of the next digit that are known, and how many.
Places: TypeAlias = dict[int, tuple[list[int], int, int]]
_BRANCH: Final = 1 << 62


class Shape:
    """The tree below one root.

    Parameters
    ----------
    mem : Memory
    dialect : Dialect
    mask : int
        The bits of digits that count.
    held : dict
        The subscriptions that are there.
    tombs : bool
        Whether there may be tombs, and S-nodes alone, which somebody has left behind.
    """

    def __init__(self, mem: Any, dialect: Any, mask: int, held: Held, *, tombs: bool = False) -> None:
        self.mem, self.dialect, self.mask, self.held, self.tombs = mem, dialect, mask, held, tombs
        self.places: Places = {}
        #: By I-node: the digits on the way to it, the lower bits of the next digit that are known, and how many.
        self.inner: dict[int, tuple[list[int], int, int]] = {}

    def check(self, root: int) -> Places:
        """Look at every node; return where the subscriptions are."""
        self._below(root, [], 0, 0)
        found = sorted(self.places)
        require(found == sorted(self.held), "the subscriptions that are there", found, sorted(self.held))
        return self.places

    def digits_of(self, pattern: str, number: int) -> list[int]:
        """Return the string of a subscription."""
        d = self.dialect
        signs = {d.one: int(digits.ANY_WORD), d.many: int(digits.ANY_WORDS)}
        split = pattern.split(d.separator) if pattern else []
        found = [signs[word] if word in signs else digit_of(word.encode()) & self.mask for word in split]
        wild = any(word in signs for word in split)
        return [*found, int(digits.END), mixed(number << 1 | wild)]

    def _below(self, i: int, path: list[int], prefix: int, level: int) -> None:
        mem, main = self.mem, walking.main_of(self.mem, i)
        require(walking.kind_of(mem, i) == walking.I_NODE, "an I-node", i)
        self.inner[i] = path, prefix, level
        slots, kind = walking.slots_of(mem, main), walking.kind_of(mem, main)
        if kind == walking.T_NODE:
            require(self.tombs and [*path, level] != [0] and not any(self._is_plain(each) for each in slots), "a tomb")
            require(walking.size_of(mem, main) == 3, "the words of a tomb")
        else:
            require(kind == walking.C_NODE and walking.size_of(mem, main) == 3 + len(slots), "the words of a C-node")
            self._is_small(path, level, slots)
        bitmap = mem[main + 2]
        for slot in slots:
            bits = 0
            if kind == walking.C_NODE:
                bits = (bitmap & -bitmap).bit_length() - 1
                bitmap &= bitmap - 1
            child = slot & walking.PLAIN
            if not slot & walking.TAG:
                number = mem[child + 1] >> 1
                pattern = self.held[number][0] if number in self.held else "?"
                string = self.digits_of(pattern, number)
                require(string[: len(path)] == path, "digits on the way to an S-node", pattern, path)
                self._is_at(string[len(path)], prefix, level, bits, kind)
                require(number not in self.places, "a subscription is there once", pattern)
                self.places[number] = path, prefix | bits << level, level + 6 if kind == walking.C_NODE else level
            elif slot & _BRANCH:
                require(walking.size_of(mem, child) == 3, "the words of a branch")
                self._is_at(mem[child + 2], prefix, level, bits, kind)
                self._below(child, [*path, mem[child + 2]], 0, 0)
            else:
                require(walking.size_of(mem, child) == 2, "the words of an I-node")
                self._below(child, path, prefix | bits << level, level + 6)

    @staticmethod
    def _is_plain(slot: int) -> bool:
        return bool(slot & walking.TAG) and not slot & _BRANCH

    def _is_small(self, path: list[int], level: int, slots: list[int]) -> None:
        if len(slots) == 1 and (path or level):
            only = slots[0]
            alone = self._is_plain(only) or (only & _BRANCH and level == 0)
            require(alone, "a C-node with one slot is a tomb instead", path, level)
        require(slots or not (path or level), "a C-node without slots", path, level)

    @staticmethod
    def _is_at(digit: int, prefix: int, level: int, bits: int, kind: int) -> None:
        low = (1 << level) - 1
        require(digit & low == prefix & low, "the digit's lower bits", digit, level)
        require(kind == walking.T_NODE or digit >> level & 63 == bits, "the digit's slot", digit, level)

    def may_overlap(self, pattern: str) -> set[int]:
        """Return which subscriptions may overlap with a pattern, as far as their places tell; after `check`."""
        asked, found = [*self.digits_of(pattern, 0)[:-1], ALL], set()
        one, many, end = int(digits.ANY_WORD), int(digits.ANY_WORDS), int(digits.END)
        for number, (path, prefix, bits) in self.places.items():
            for mine, its in zip(asked, path, strict=False):
                if many in (mine, its) or (mine == its == end):
                    found.add(number)
                    break
                if mine != its and (end in (mine, its) or one not in (mine, its)):
                    break
            else:
                mine, low = asked[len(path)], (1 << bits) - 1
                some = {mine, many} if mine == end else {mine, many, one}
                if mine in (one, many) or any(each & low == prefix & low for each in some):
                    found.add(number)
        return found
