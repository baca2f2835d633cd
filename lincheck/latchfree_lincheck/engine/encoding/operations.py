"""From operations, one by one, to rows of integers.

Values become small integers by equality, as a dict of canonical values sees it, which is how the models compare them. A
result that the model would never accept becomes IMPOSSIBLE.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, Expired
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.encoding.forms import FORMS, KEYED, LARGEST, LISTS, WHOLE, Encoded, NotEncodable, family
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history import Operation
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import UNKNOWN, Model, SequentialModel
from latchfree_model.models.values import PLAIN, canonical, whole

_LOOK_AT_CLOCK: Final = 1024


class _Numbers(dict[Hashable, int]):
    """Numbers things in order of appearance."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = number = len(self)
        return number


def encode_operations(model: SequentialModel[Any], operations: Sequence[Operation], deadline: Deadline) -> Encoded:
    """Turn the operations of one history into rows; see `encode.encode` for what is raised."""
    takes = model.operations
    usual = type(model).validate is SequentialModel.validate  # names, numbers of arguments, and None where it is stored
    for number, operation in enumerate(operations):
        if number % _LOOK_AT_CLOCK == 0 and deadline.passed():
            raise Expired
        f, arguments = operation.f, operation.arguments
        if not usual or takes.get(f) != len(arguments) or None in arguments:
            model.validate(operation.call)
        if f == "snapshot":
            model.step(model.init(), operation.call)
    return _Encoder(model).run(operations, deadline)


class _Encoder:
    def __init__(self, model: Model[Any]) -> None:
        self._family = family(model)
        self._forms = FORMS[self._family]
        self._values = _Numbers()
        self._keys: dict[int, _Numbers] = {}
        self._snapshots: dict[int, list[Any]] = {}
        self._zero = 0
        self._capacity = int(getattr(model, "capacity", op.ABSENT))

    def run(self, operations: Sequence[Operation], deadline: Deadline) -> Encoded:
        """Turn operations into rows."""
        keyed = self._family in KEYED
        if self._family == "counter":
            self._find_zero(operations)
        whole = {each.object for each in operations if self._forms[each.f][0] in WHOLE}
        parts = _Numbers()
        part = np.empty(len(operations), np.int64)
        filled = []
        for number, each in enumerate(operations):
            if number % _LOOK_AT_CLOCK == 0 and deadline.passed():
                raise Expired
            name = each.object
            alone = keyed and name not in whole
            arguments = each.arguments
            if not PLAIN.issuperset(map(type, arguments)):
                arguments = tuple(map(canonical, arguments))
            mine = parts[name, arguments[0] if alone else None]
            part[number] = mine
            filled.append(self._row(each, arguments, mine, keyed, alone))
        rows = np.array(filled, np.int32).reshape(-1, 5)
        if self._family == "priority-queue":
            self._rank(rows)
        return Encoded(rows, part, self._meaning(len(parts)))

    def _row(
        self, each: Operation, arguments: tuple[Hashable, ...], part: int, keyed: bool, alone: bool
    ) -> tuple[int, int, int, int, int]:
        code, kind = self._forms[each.f]
        key, a, b = 0, op.ABSENT, op.ABSENT
        if keyed and arguments:
            if not alone:
                key = self._keys.setdefault(part, _Numbers())[arguments[0]]
            arguments = arguments[1:]
        if code == op.ADD:
            a = arguments[0]  # type: ignore[assignment]
        else:
            numbers = [op.ABSENT if value is None else self._values[value] for value in arguments]
            if keyed and code in (op.REPLACE_IF, op.REMOVE_IF) and numbers[0] == op.ABSENT:
                numbers[0] = op.IMPOSSIBLE
            if numbers:
                a = numbers[0]
            if len(numbers) == 2:
                b = numbers[1]
            elif code == op.ENQUEUE:
                b = self._capacity
        return code, key, a, b, self._result(kind, each.result, part)

    def _result(self, kind: str, result: object, part: int) -> int:
        """Return the number of a result."""
        if kind == "done":
            return 1
        if result is UNKNOWN or not kind:
            return op.UNKNOWN_RESULT
        if type(result) not in PLAIN:
            result = canonical(result)
        if kind == "value":
            try:
                return op.ABSENT if result is None else self._values[result]
            except TypeError:
                return op.IMPOSSIBLE  # not hashable, so it was never stored
        if kind == "truth":
            return int(bool(result)) if result in (True, False) else op.IMPOSSIBLE
        if kind == "contents":
            seen = self._snapshots.setdefault(part, [])
            seen.append(result)
            return len(seen) - 1
        if kind == "old count" and result is None:
            return op.UNKNOWN_RESULT
        if kind in ("count", "old count"):
            return self._whole_number(result, self._zero)
        return self._whole_number(result, 0)

    @staticmethod
    def _whole_number(result: object, zero: int) -> int:
        number = whole(result)
        return number + zero if number is not None and 0 <= number + zero <= LARGEST else op.IMPOSSIBLE

    def _find_zero(self, operations: Sequence[Operation]) -> None:
        """Choose the state that stands for 0, so that none is negative."""
        added = [each.arguments[0] for each in operations if each.f == "add"]
        self._zero = -sum(number for number in added if number < 0)  # type: ignore[operator, misc]
        if self._zero + sum(number for number in added if number > 0) > LARGEST:  # type: ignore[operator, misc]
            raise NotEncodable("the counter may exceed 31 bits")

    def _rank(self, rows: Rows) -> None:
        """Renumber values by their order; what was never inserted comes after them."""
        inserted = rows[rows[:, 0] == op.OFFER, 2]
        known = np.zeros(len(self._values), bool)
        known[inserted] = True
        values = list(self._values)
        try:
            ranked = sorted((number for number in range(len(values)) if known[number]), key=values.__getitem__)  # type: ignore[arg-type]
        except TypeError as error:
            raise NotEncodable(str(error)) from None
        for less, more in pairwise([*ranked[:1], *ranked]):
            if not values[less] <= values[more]:  # type: ignore[operator]
                raise NotEncodable(f"{values[less]!r} and {values[more]!r} have no order")
        rank = np.empty(len(values), np.int32)
        rank[ranked] = np.arange(len(ranked))
        rank[~known] = np.arange(len(ranked), len(values))
        for column in (2, 4):
            rows[rows[:, column] >= 0, column] = rank[rows[rows[:, column] >= 0, column]]

    def _meaning(self, parts: int) -> Meaning:
        initial, contents = {}, {}
        for part, keys in self._keys.items():
            seen = self._snapshots.get(part, [])
            held = np.full((len(seen), max(len(keys), 1)), op.ABSENT, np.int64)
            for row, snapshot in zip(held, seen, strict=True):
                (_fill_elements if self._family == "set" else self._fill)(row, snapshot, keys)
            contents[part], initial[part] = held, np.full(held.shape[1], op.ABSENT, np.int64)
        for part, seen in self._snapshots.items():
            if part not in initial:
                empty = [[op.IMPOSSIBLE if len(snapshot) else op.ABSENT] for snapshot in map(tuple, seen)]
                contents[part], initial[part] = np.array(empty, np.int64), np.array([op.ABSENT])
        return Meaning(
            self._family,
            "list" if self._family in LISTS else "value",
            np.full(parts, self._zero if self._family == "counter" else op.ABSENT, np.int64),
            initial,
            contents,
        )

    def _fill(self, held: Ints, snapshot: Any, keys: _Numbers) -> None:
        """Write what a snapshot saw into a row of contents; a value that no map can hold if it is impossible."""
        pairs = [(key, value) for key, value in (snapshot.items() if isinstance(snapshot, Mapping) else snapshot)]
        contents = dict(pairs)
        possible = len(contents) == len(pairs) and all(key in keys for key in contents)
        for key, value in contents.items():
            if key in keys:
                held[keys[key]] = op.IMPOSSIBLE if value is None else self._values[value]
        if not possible:
            held[0] = op.IMPOSSIBLE


def _fill_elements(held: Ints, snapshot: Any, keys: _Numbers) -> None:
    elements = list(snapshot)
    for element in elements:
        if element in keys:
            held[keys[element]] = 0
    if len(set(elements)) != len(elements) or any(element not in keys for element in elements):
        held[0] = op.IMPOSSIBLE
