"""Scenarios: which operations each thread runs, what comes before and after, and where keys are placed.

As text, threads are separated by ``|`` and operations by ``;``. Parts that start with ``init:``, ``after:`` or
``keys:`` say what runs before the threads, what after them, and how keys are laid out::

    init: put(1, 10) | put(1, 11); get(2) | remove(1) | after: snapshot() | keys: list
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

MOST_THREADS: Final = 8
MOST_OPERATIONS: Final = 62

_CALL: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?\s*")
_PARTS: Final = ("init", "after", "keys")


@dataclass(frozen=True, slots=True)
class Invocation:
    """An operation and its arguments."""

    f: str
    arguments: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.f}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A small concurrent program.

    Parameters
    ----------
    threads : tuple of tuples of Invocation
        One tuple a thread.
    before, after : tuple of Invocation
        What runs alone, before the threads start and when all have ended.
    keys : str
        A layout of keys that the target knows; empty for its usual one.

    Raises
    ------
    ValueError
        If there are no threads, too many, one without operations, or too many operations.
    """

    threads: tuple[tuple[Invocation, ...], ...]
    before: tuple[Invocation, ...] = ()
    after: tuple[Invocation, ...] = ()
    keys: str = field(default="")

    def __post_init__(self) -> None:
        if not 1 <= len(self.threads) <= MOST_THREADS:
            raise ValueError(f"a scenario has from 1 to {MOST_THREADS} threads, this one {len(self.threads)}: {self}")
        if not all(self.threads):
            raise ValueError(f"each thread needs an operation: {self}")
        if len(self.operations) > MOST_OPERATIONS:
            raise ValueError(f"a scenario has at most {MOST_OPERATIONS} operations, this one {len(self.operations)}")

    @property
    def operations(self) -> tuple[Invocation, ...]:
        """All of them: before, thread by thread, after."""
        return (*self.before, *(each for thread in self.threads for each in thread), *self.after)

    @classmethod
    def parse(cls, text: str) -> Scenario:
        """Read a scenario.

        Raises
        ------
        ValueError
            Naming what is wrong and where.
        """
        threads: list[tuple[Invocation, ...]] = []
        parts: dict[str, str] = {}
        for part in text.split("|"):
            name, colon, rest = part.partition(":")
            if colon:
                if name.strip() not in _PARTS or name.strip() in parts:
                    raise ValueError(f"scenario: a part is init:, after: or keys:, once each, not {part.strip()!r}")
                parts[name.strip()] = rest
            else:
                threads.append(_operations(part))
        return cls(
            tuple(threads),
            _operations(parts["init"]) if "init" in parts else (),
            _operations(parts["after"]) if "after" in parts else (),
            parts.get("keys", "").strip(),
        )

    def __str__(self) -> str:
        parts = ["init: " + _text(self.before)] if self.before else []
        parts += [_text(thread) for thread in self.threads]
        parts += ["after: " + _text(self.after)] if self.after else []
        parts += [f"keys: {self.keys}"] if self.keys else []
        return " | ".join(parts)

    def smaller(self) -> list[Scenario]:
        """Return every scenario with one operation less."""
        found = []
        for k in range(len(self.before)):
            found.append(replace(self, before=self.before[:k] + self.before[k + 1 :]))
        for k in range(len(self.after)):
            found.append(replace(self, after=self.after[:k] + self.after[k + 1 :]))
        for t, thread in enumerate(self.threads):
            for k in range(len(thread)):
                rest = thread[:k] + thread[k + 1 :]
                threads = (*self.threads[:t], *((rest,) if rest else ()), *self.threads[t + 1 :])
                if threads:
                    found.append(replace(self, threads=threads))
        return found


def _text(operations: tuple[Invocation, ...]) -> str:
    return "; ".join(map(str, operations))


def _operations(text: str) -> tuple[Invocation, ...]:
    return tuple(_operation(each) for each in text.split(";"))


def _operation(text: str) -> Invocation:
    found = _CALL.fullmatch(text)
    if found is None:
        raise ValueError(f"scenario: expected an operation such as put(1, 2), not {text.strip()!r}")
    name, arguments = found.groups()
    if arguments is None or not arguments.strip():
        return Invocation(name)
    try:
        return Invocation(name, tuple(int(each) for each in arguments.split(",")))
    except ValueError:
        raise ValueError(f"scenario: arguments are integers, not {arguments.strip()!r} in {text.strip()!r}") from None
