"""Reclamation left out: the functions that `reclamation.py` puts in place of those of its leaking build."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


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
def retire_tree(mem: Handle, me: Word, i: Word) -> None:
    pass


@kernel
def drain_a_few(mem: Handle, me: Word) -> None:
    pass


@kernel
def open_grave(mem: Handle, trie: Word, me: Word, death: Word, room: Word) -> None:
    pass


@kernel
def bury(mem: Handle, me: Word, node: Word) -> None:
    pass


@kernel
def close_grave(mem: Handle, me: Word) -> None:
    pass


@kernel
def bury_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    pass


@kernel
def bury_tree(mem: Handle, trie: Word, me: Word, root: Word, death: Word) -> None:
    pass
