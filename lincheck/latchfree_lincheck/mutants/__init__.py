"""Seeded bugs of the compiled code: each a known defect of a published implementation, as one replaced function.

They exist to be caught. A layer of verification that lets one through proves nothing about the real code.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

#: Modules whose kernels are compiled anew for a mutant.
_AFFECTED = (
    "latchfree.ctrie.",
    "latchfree_lincheck.stress.driver",
    "latchfree_lincheck.stress.worker",
    "latchfree_lincheck.explore.ctrie",
)

#: What must be loaded before functions are replaced: everything that may hold a reference to one.
_HOLDERS = (
    "burial",
    "clean",
    "cnode",
    "gcas",
    "insert",
    "lnode",
    "lookup",
    "registry",
    "remove",
    "root",
    "scan",
    "snapshot",
)

#: What frees nodes: left out together with every mutant, see `collected`.
_BURIAL = ("open_grave", "bury", "close_grave", "bury_pair", "bury_tree")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One seeded bug.

    Attributes
    ----------
    id : str
        Its name in the literature of this project, e.g. "S1".
    summary : str
        Where it was found and what goes wrong.
    replaces : str
        The function it replaces, as "module:function" under ``latchfree.ctrie``.
    stress : dict or None
        Options that make `run_stress` meet it soonest; None where stress cannot show it.
    """

    id: str
    summary: str
    replaces: str
    stress: dict[str, Any] | None


MUTANTS = {
    mutant.id: mutant
    for mutant in (
        Mutant(
            "S1",
            "Scala 2.12/2.13, Workiva: renewing a C-node copies children already renewed; a completed put is lost",
            "cnode:renewed",
            {},
        ),
        Mutant(
            "W1",
            "Workiva: a snapshot rereads the root after it was installed; later writes show up in it",
            "snapshot:freeze",
            {},
        ),
        Mutant(
            "W2",
            "Workiva: removing from an L-node reports 'absent' when its GCAS failed",
            "remove:remove",
            {},
        ),
    )
}


def _replace(original: Any, replacement: Any) -> None:
    """Put a function in the place of another wherever the Ctrie refers to it."""
    name = original.__name__
    for loaded, content in list(sys.modules.items()):
        if loaded.startswith("latchfree.ctrie.") and getattr(content, name, None) is original:
            setattr(content, name, replacement)


def apply(name: str) -> None:
    """Replace the function of mutant `name` for the rest of this process, in which nodes are not freed.

    Raises
    ------
    ValueError
        If there is no such mutant.
    RuntimeError
        If the structure is loaded already.
    """
    if name not in MUTANTS:
        raise ValueError(f"unknown mutant {name!r}; there are: {', '.join(MUTANTS)}")
    from latchfree import jit

    module, function = MUTANTS[name].replaces.split(":")
    jit.set_variant(name, _AFFECTED)
    for holder in _HOLDERS:
        import_module(f"latchfree.ctrie.{holder}")
    collected = import_module("latchfree_lincheck.mutants.collected")
    for burial in _BURIAL:
        _replace(getattr(sys.modules["latchfree.ctrie.burial"], burial), getattr(collected, burial))
    replacement = getattr(import_module(f"latchfree_lincheck.mutants.{name.lower()}"), function)
    _replace(getattr(sys.modules[f"latchfree.ctrie.{module}"], function), replacement)
