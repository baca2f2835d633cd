"""Lesson 6: the student's sequential model, verdicts and history, judged by the checker.

The object is a buffer with one place: `put(v)` returns whether the place was empty, and then fills it; `take()` returns
what was there, or nothing, and leaves the place empty. The student's functions are plain Python that the allow-list has
admitted: whole numbers, and the names of the lesson.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from latchfree_lincheck import History, Operation, check, judge, lanes
from latchfree_model import UNKNOWN, Call, SequentialModel
from latchfree_teach.course.lesson import Check
from latchfree_teach.grading.judging import Judgement

NOTHING: Final = 0
PUT: Final = 1
TAKE: Final = 2
MOST_OPERATIONS: Final = 5
_NAMES: Final = {PUT: "put", TAKE: "take"}
_EVENT: Final = re.compile(r"([+-])(\d) (put (\d+)|take|True|False|nothing|\d+)")

_events: list[tuple[str, int, int, int]] = []


def begin(thread: int, f: int, value: int) -> None:
    """Record that a thread begins an operation: PUT with a value, or TAKE, whose value is not looked at."""
    _events.append(("begin", thread, f, value))


def end(thread: int, result: int) -> None:
    """Record that the operation of a thread returns."""
    _events.append(("end", thread, result, 0))


class BufferModel(SequentialModel[int]):
    """The buffer as it should be; the state is the value, or NOTHING."""

    name = "buffer"
    operations = MappingProxyType({"put": 1, "take": 0})

    def init(self) -> int:
        """Return the empty state."""
        return NOTHING

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return the result that a call must have, and the next state."""
        if call.f == "take":
            return state or None, NOTHING
        value = call.arguments[0]
        assert isinstance(value, int)
        return state == NOTHING, state or value


class _Asked(BufferModel):
    """The buffer as the student describes it."""

    def __init__(self, puzzle: Puzzle) -> None:
        self._puzzle = puzzle

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return what the student's functions return."""
        f, value = (PUT, int(str(call.arguments[0]))) if call.f == "put" else (TAKE, NOTHING)
        result, after = self._puzzle.result(state, f, value), self._puzzle.after(state, f, value)
        return _seen(call.f, result), after if isinstance(after, int) else NOTHING


def _seen(f: str, result: object) -> Hashable:
    """Return a result as histories have it."""
    if f == "put":
        return bool(result)
    return result if isinstance(result, int) and result != NOTHING else None


@dataclass(frozen=True)
class Puzzle:
    """What the student wrote, and the histories of the page."""

    result: Callable[..., Any]
    after: Callable[..., Any]
    linearizable: Callable[..., Any]
    history: Callable[..., Any]
    pictures: Sequence[str]


def pictured(text: str) -> History:
    """Return a history of events such as "+0 put 1; -0 True; +1 take; -1 nothing": + begins, - returns."""
    found: dict[int, Operation] = {}
    operations = []
    for time, event in enumerate(text.split(";")):
        matched = _EVENT.fullmatch(event.strip())
        if matched is None:
            raise ValueError(f"expected an event such as +0 put 1, not {event.strip()!r}")
        sign, thread, what, value = matched[1], int(matched[2]), matched[3], matched[4]
        if sign == "+":
            arguments = (int(value),) if value else ()
            found[thread] = Operation(thread, what.split()[0], arguments, UNKNOWN, time, None)
        else:
            result = {"True": True, "False": False, "nothing": None}[what] if not what.isdigit() else int(what)
            operations.append(_returned(found.pop(thread), result, time))
    return History("history", [*operations, *found.values()])


def _returned(each: Operation, result: object, time: int) -> Operation:
    return Operation(each.process, each.f, each.arguments, result, each.invoke, time)


def random_history(rng: random.Random, threads: int, *, pending: bool) -> History:
    """Return a random history of a right buffer, in which a result may have been changed."""
    state, left = NOTHING, rng.randint(2, 6)
    running: dict[int, tuple[Operation, object]] = {}
    done: list[Operation] = []
    model, time = BufferModel(), 0
    while left or running:
        time += 1
        thread = rng.randrange(threads)
        if thread not in running:
            if left:
                left -= 1
                f, arguments = ("put", (rng.randint(1, 3),)) if rng.random() < 0.5 else ("take", ())
                running[thread] = Operation(thread, f, arguments, UNKNOWN, time, None), UNKNOWN
            continue
        operation, result = running[thread]
        if result is UNKNOWN:
            result, state = model.apply(state, Call(operation.f, operation.arguments, UNKNOWN))
            running[thread] = operation, result
        else:
            del running[thread]
            done.append(_returned(operation, result, time))
        if pending and not left and rng.random() < 0.5:
            break
    if done and rng.random() < 0.6:
        k = rng.randrange(len(done))
        other = rng.choice([True, False] if done[k].f == "put" else [None, 1, 2, 3])
        done[k] = _returned(done[k], other, done[k].return_ or 0)
    return History("history", [*done, *(operation for operation, _ in running.values())])


def judgements(puzzle: Puzzle, checks: Sequence[Check]) -> Iterator[tuple[Check, Judgement]]:
    """Judge each check."""
    ways = {"model": _model, "page": _page, "history": _history}
    for each in checks:
        try:
            yield each, ways[each.options["ask"]](puzzle, each)
        except (ArithmeticError, TypeError, NameError, RecursionError, ValueError) as error:
            kind = type(error).__name__
            yield each, Judgement("raised", f"{kind}: {error}", f"raised {kind}")


def _model(puzzle: Puzzle, check_: Check) -> Judgement:
    """Compare the verdicts under the student's model with those under the right one."""
    told = check_.options
    rng = random.Random(told["seed"])
    right, asked = BufferModel(), _Asked(puzzle)
    bits, shown, message = "", "", ""
    for number in range(told["histories"]):
        history = random_history(rng, told["threads"], pending=told.get("pending", False))
        expected, found = (check(history, model).verdict == "ok" for model in (right, asked))
        bits += "10"[found != expected]
        if found != expected and not message:
            message = f"history {number + 1} is {_word(expected)}; with your model it is {_word(found)}"
            shown = lanes(history)
    return Judgement("wrong verdict" if message else "", message, bits, shown)


def _word(linearizable: bool) -> str:
    return "linearizable" if linearizable else "not linearizable"


def _page(puzzle: Puzzle, check_: Check) -> Judgement:
    """Compare the student's verdicts on the page's histories with those of the checker."""
    bits, wrong = "", []
    for number, text in enumerate(puzzle.pictures, start=1):
        expected = check(pictured(text), BufferModel()).verdict == "ok"
        same = bool(puzzle.linearizable(number)) == expected
        bits += "01"[same]
        if not same:
            wrong.append(str(number))
    message = f"your verdict on {len(wrong)} of the {len(puzzle.pictures)} histories is not the checker's"
    return Judgement("wrong verdict" if wrong else "", message if wrong else "", bits)


def _history(puzzle: Puzzle, check_: Check) -> Judgement:
    """Judge the student's history: it must be sequentially consistent, and not linearizable."""
    _events.clear()
    puzzle.history()
    running: dict[int, Operation] = {}
    done = []
    for time, (kind, thread, first, value) in enumerate(_events):
        if kind == "begin":
            if not all(type(each) is int for each in (thread, first, value)):
                return _refused("threads, operations and values are whole numbers")
            if thread in running or first not in _NAMES:
                return _refused(f"thread {thread} cannot begin operation {first} there")
            arguments = (value,) if first == PUT else ()
            running[thread] = Operation(int(thread), _NAMES[first], arguments, UNKNOWN, time, None)
        else:
            if thread not in running:
                return _refused(f"thread {thread} has nothing to return from")
            operation = running.pop(thread)
            done.append(_returned(operation, _seen(operation.f, first), time))
    if running:
        return _refused(f"thread {min(running)} never returns; every operation must here")
    if not 1 <= len(done) <= MOST_OPERATIONS:
        return _refused(f"it has {len(done)} operations; from 1 to {MOST_OPERATIONS} are asked for")
    history = History("history", done)
    if check(history, BufferModel()).verdict == "ok":
        return Judgement("linearizable", "your history is linearizable", "linearizable", lanes(history))
    if judge(history, BufferModel(), criterion="sequential-consistency").verdict != "ok":
        why = "no order of the operations explains your history, even without real time between threads"
        return Judgement("not sequentially consistent", why, "not sequentially consistent", lanes(history))
    return Judgement("", "", "right")


def _refused(why: str) -> Judgement:
    return Judgement("no history", why, "no history")
