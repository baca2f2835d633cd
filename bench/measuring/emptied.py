"""Reclamation left out: the functions that `reclamation.py` puts in place of those of its leaking build."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.mutants.nothing_freed import (
    begin_retiring,
    finish_retiring,
    retire_node,
    retire_pair,
    retire_subtree,
)

__all__ = [
    "begin_retiring",
    "defer",
    "drain_a_few",
    "finish_retiring",
    "pin",
    "retire",
    "retire_node",
    "retire_pair",
    "retire_subtree",
    "unpin",
]


@kernel
def pin(mem: Handle, me: Word) -> None:
    pass


@kernel
def unpin(mem: Handle, me: Word) -> None:
    pass


@kernel
def retire(mem: Handle, me: Word, node: Word) -> None:
    pass


@kernel
def defer(mem: Handle, me: Word, thing: Word) -> None:
    pass


@kernel
def drain_a_few(mem: Handle, me: Word) -> None:
    pass
