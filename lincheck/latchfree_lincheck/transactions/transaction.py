"""A transaction, as a client saw it: its micro-operations, how it ended, and when.

>>> print(Transaction((("append", "x", 1), ("r", "y", (1, 2)))))
append x 1, read y -> [1 2]
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

Kind = Literal["list-append", "rw-register"]
Ending = Literal["ok", "fail", "info"]
ENDINGS: Final[tuple[str, ...]] = get_args(Ending)
WRITES: Final = {"list-append": "append", "rw-register": "w"}
"""The micro-operation that writes, by kind of history."""

_MOST_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction of a history.

    Parameters
    ----------
    operations : tuple of (str, key, value)
        Its micro-operations, in order: ``("append", key, element)``, ``("w", key, value)`` or ``("r", key, result)``.
        The result of a read is a tuple of elements in a list-append history, a value in an rw-register history, and
        None for the initial state: the empty list, or a register that was never written.
    type : "ok", "fail" or "info"
        Committed; aborted, for certain; or nobody knows which. The results of reads count only where it is ok.
    process : int, str or None
        Who ran it. Transactions of one process stand in the history in the order in which the process ran them.
    invoke, return_ : int or None
        When it was called and when it returned, by one counter or clock. Without them nothing is known of its time.
    line : int
        The line of the file, from 1, or 0.
    """

    operations: tuple[tuple[str, Hashable, object], ...]
    type: Ending = "ok"
    process: int | str | None = None
    invoke: int | None = None
    return_: int | None = None
    line: int = 0

    def __str__(self) -> str:
        return ", ".join(
            f"read {shown(key)} -> {shown(value)}" if f == "r" else f"{_VERBS.get(f, f)} {shown(key)} {shown(value)}"
            for f, key, value in self.operations
        )


_VERBS: Final = {"w": "write"}


def shown(value: object) -> str:
    """Return a key or a value as text for people; a long list is cut in its middle."""
    if isinstance(value, str):
        return value if value and value.isprintable() else repr(value)
    if isinstance(value, tuple | list):
        items = [shown(item) for item in value]
        if len(items) > _MOST_SHOWN:
            items = [*items[: _MOST_SHOWN // 2], "...", *items[-_MOST_SHOWN // 2 :]]
        return f"[{' '.join(items)}]"
    return "nil" if value is None else str(value)


def kind_of(transactions: Sequence[Transaction]) -> Kind:
    """Return the kind of a history: by its first write, else by the result of a read.

    Raises
    ------
    ValueError
        If no transaction tells.
    """
    for transaction in transactions:
        for f, _, value in transaction.operations:
            if f == "append" or (f == "r" and isinstance(value, tuple | list)):
                return "list-append"
            if f == "w" or (f == "r" and value is not None):
                return "rw-register"
    raise ValueError("no write and no result of a read tells list-append from rw-register; say kind=...")


def require_valid(transactions: Sequence[Transaction], kind: Kind) -> None:
    """Raise ValueError, which names the transaction, unless each is one of a history of this kind."""
    write = WRITES[kind]
    for index, transaction in enumerate(transactions):
        where = name_of(index, transaction)
        if not isinstance(transaction.process, int | str | None):
            raise ValueError(f"{where}: expected a number, a text or None as its process, got {transaction.process!r}")
        if transaction.type not in ENDINGS:
            raise ValueError(f"{where}: expected ok, fail or info as its type, got {transaction.type!r}")
        for time in (transaction.invoke, transaction.return_):
            if time is not None and (not isinstance(time, int) or isinstance(time, bool)):
                raise ValueError(f"{where}: expected an integer or None as a time, got {time!r}")
        if (
            transaction.invoke is not None
            and transaction.return_ is not None
            and transaction.return_ < transaction.invoke
        ):
            raise ValueError(f"{where}: returned at {transaction.return_}, before its call at {transaction.invoke}")
        for operation in transaction.operations:
            if not isinstance(operation, tuple) or len(operation) != 3:
                raise ValueError(f"{where}: expected (f, key, value) as a micro-operation, got {operation!r}")
            f, key, value = operation
            if f not in ("r", write):
                raise ValueError(f"{where}: expected r or {write} in a history of kind {kind}, got {f!r}")
            if f == write and value is None:
                raise ValueError(f"{where}: writes nothing to {shown(key)}; None stands for the initial state")
            if f == "r" and kind == "list-append" and not isinstance(value, tuple | None):
                raise ValueError(f"{where}: expected a tuple as the result of a read of a list, got {value!r}")
            try:
                hash((key, value))
            except TypeError:
                raise ValueError(f"{where}: key and value must be hashable, got {operation!r}") from None


def name_of(index: int, transaction: Transaction) -> str:
    """Return what messages call a transaction: its place in the history and, if known, its line."""
    return f"T{index} (line {transaction.line})" if transaction.line else f"T{index}"
