"""Positions of the ring buffer: cells, turns, full and empty, also where the count wraps around; and whole operations.

Capacities are proved one by one, positions all at once. Positions in use at one time are at most `_NEAR` apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from latchfree.streams.kernels import positions, ring
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Truth, Word

_NEAR = 1 << 62
_RING, _CELLS = 64, 0


def _capacities() -> Iterator[Mapping[str, int]]:
    return ({"capacity": 1 << bits} for bits in range(1, 26))


def _near(case: Case, name: str, position: Word) -> Word:
    """Return a position at most `_NEAR` before or after another, modulo 2**64."""
    return position + case.word(name, below=2 * _NEAR) - _NEAR


def _cells(case: Case, code: Code, capacity: int) -> None:
    cells, position = case.word("cells", below=1 << 40), case.word("position")
    ahead, mask = case.word("ahead", below=capacity), Word(capacity - 1)
    cell_of = code[positions.cell_of]
    one, other = cell_of(cells, position, mask), cell_of(cells, position + ahead, mask)
    case.claim("a cell is one of the ring's", (one >= cells) & (one + 2 <= cells + 2 * capacity))
    case.claim("positions of one round have cells apart", (ahead == 0) | (one - other + 1 > 2))
    case.claim("the next round is in the same cell", cell_of(cells, position + capacity, mask) == one)


def _turns(case: Case, code: Code, capacity: int) -> None:
    mask, position = Word(capacity - 1), case.word("position")
    last = _near(case, "last", position)  # the position at which the cell was used last, or is being used
    cell_of, turn_to_get = code[positions.cell_of], code[positions.turn_to_get]
    case.assume(cell_of(Word(_CELLS), last, mask) == cell_of(Word(_CELLS), position, mask))
    again = code[positions.turn_to_put_again](last, mask)
    case.claim("who puts does not take a filled cell for an empty one", turn_to_get(last) != position)
    case.claim("who gets does not take an empty cell for a filled one", turn_to_get(position) != last)
    found = turn_to_get(last) == turn_to_get(position)
    case.claim("who gets reads what was put at this position", found == (last == position))
    case.claim("who puts has the cell next", (again == position) == (last + capacity == position))


def _behind(case: Case, code: Code) -> None:
    wanted, apart = case.word("wanted"), case.word("apart", below=_NEAR)
    case.assume(apart != 0)
    is_behind = code[positions.is_behind]
    case.claim("an earlier turn is behind", _truth(is_behind(wanted - apart, wanted)))
    case.claim("a later one is not", ~_truth(is_behind(wanted + apart, wanted)))
    case.claim("nor is the one wanted", ~_truth(is_behind(wanted, wanted)))


def _full(case: Case, code: Code, capacity: int) -> None:
    filled = case.word("filled")  # the next position to put at, now
    held, late = case.word("held", below=capacity + 1), case.word("late", below=_NEAR)
    position = filled - late  # as it was when it was read
    full = _truth(code[positions.is_full](position, filled - held, Word(capacity - 1)))
    case.claim("full is said if it is, and the position has not changed", full == ((held == capacity) & (late == 0)))


def _empty(case: Case, code: Code, capacity: int) -> None:
    taken = case.word("taken")  # the next position to get from, now
    held, late = case.word("held", below=capacity + 1), case.word("late", below=_NEAR)
    position = taken - late
    empty = _truth(code[positions.is_empty](position, taken + held))
    case.claim("empty is said if it is, and the position has not changed", empty == ((held == 0) & (late == 0)))
    case.claim("the length is how many it holds", code[positions.length](taken + held, taken) == held)


def _truth(answer: Truth | bool) -> Truth:
    """Return a truth value as a number."""
    return answer if isinstance(answer, Truth) else Truth(z3.BoolVal(answer))


def _operations(case: Case, code: Code, capacity: int, held: int) -> None:
    first, mem = case.word("first"), SymbolicMemory()
    root, mask, patience, nobody = Word(_RING), Word(capacity - 1), Word(0), Word(0)
    code[ring.format_ring](mem, root, Word(_CELLS), mask, Word(0), first)
    values = [case.word(f"value{k}") for k in range(held)]
    put, get = code[ring.try_put], code[ring.try_get]
    for value in values:
        case.claim("there is room", put(mem, root, value, patience, nobody) == ring.DONE)
    case.claim("as many as were put", code[ring.count](mem, root) == held)
    if held == capacity:
        case.claim("a full ring refuses", put(mem, root, Word(0), patience, nobody) == ring.REFUSED)
    for value in values:
        outcome, found = get(mem, root, patience, nobody)
        case.claim("there is a value", outcome == ring.DONE)
        case.claim("values come in the order in which they were put", found == value)
    case.claim("an empty ring refuses", get(mem, root, patience, nobody)[0] == ring.REFUSED)


LEMMAS = (
    Lemma(
        "ring-cells",
        "positions of one round have different cells of the ring, and the next round has the same, also across 2**64",
        _cells,
        Twin(positions.cell_of, "position & mask", "position % (mask + np.uint64(2))", "one cell too many"),
        _capacities,
    ),
    Lemma(
        "ring-turns",
        "a turn of a cell is that of one position, and of putting or getting there",
        _turns,
        Twin(positions.turn_to_get, "position + _1", "position", "a cell looks the same when filled as when empty"),
        _capacities,
    ),
    Lemma(
        "ring-behind",
        "an earlier turn is told from a later one, also across 2**64",
        _behind,
        Twin(positions.is_behind, "(turn - wanted) >> _SIGN == _1", "turn < wanted", "turns are compared as numbers"),
    ),
    Lemma(
        "ring-full",
        "a put that looks at the next position to get from says full exactly if the ring is, however late it looks",
        _full,
        Twin(positions.is_full, "== mask + _1", "> mask", "who has been overtaken finds the ring full"),
        _capacities,
    ),
    Lemma(
        "ring-empty",
        "a get that looks at the next position to put at says empty exactly if the ring is, however late it looks",
        _empty,
        Twin(positions.is_empty, "filled == position", "filled <= position", "positions are compared as numbers"),
        _capacities,
    ),
    Lemma(
        "ring-operations",
        "wherever the count stands, a ring takes as many values as it has cells, and gives them back in order",
        _operations,
        Twin(ring.fill, "turn_to_get(position)", "position", "a put does not pass the turn"),
        lambda: ({"capacity": capacity, "held": held} for capacity in (2, 4) for held in range(capacity + 1)),
    ),
)
