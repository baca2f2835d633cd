"""Seeded bugs of the compiled code: each a known defect of a published implementation, as one replaced function.

They exist to be caught. A layer of verification that lets one through proves nothing about the real code.

Replacing a function changes all that call it. Those are compiled anew and kept in a cache of the mutant's own; the
others are compiled once for all mutants.

One file a mutant, in a folder for each structure: the file tells how the bug shows, its digest keys the compiled code,
and several mutants replace the same function.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from latchfree import jit
from latchfree.sources import digest_of
from latchfree_evidence.mutants.catalogue import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant", "apply_mutant"]

#: Modules whose kernels may call what a mutant replaces.
_AFFECTED = (
    "latchfree.ctrie.",
    "latchfree_evidence.stress.tickets",
    "latchfree_evidence.stress.ctrie",
    "latchfree_evidence.stress.ctrie_worker",
    "latchfree_evidence.stress.topics",
    "latchfree_evidence.stress.topic_worker",
    "latchfree_evidence.targets.ctrie",
    "latchfree_evidence.refinement.bridge.target",
    "latchfree_evidence.targets.topics",
    "latchfree.topics.concurrent.",
    "latchfree_evidence.targets.ring",
    "latchfree.streams.",
)

#: The packages that a target is made of.
_PACKAGES = {
    "ctrie": ("ctrie.kernels",),
    "topic-trie": ("ctrie.kernels", "topics.concurrent.kernels"),
    "ring": ("streams.kernels",),
}

#: What of a package must be loaded before functions are replaced: everything that may hold a reference to one.
_HOLDERS = {
    "ctrie.kernels": (
        "clean",
        "cnode",
        "gcas",
        "insert",
        "lnode",
        "lookup",
        "registry",
        "remove",
        "retirement",
        "root",
        "scan",
        "snapshot",
    ),
    "topics.concurrent.kernels": (
        "agree",
        "change",
        "collect",
        "digits",
        "levels",
        "match",
        "rows",
        "strings",
        "whole",
    ),
    "streams.kernels": ("ring", "entrypoints"),
}

#: What frees nodes of tries: left out together with every mutant, see `nothing_freed`.
_COLLECTED = {
    "latchfree.ctrie.kernels.retirement": (
        "begin_retiring",
        "retire_node",
        "finish_retiring",
        "retire_pair",
        "retire_subtree",
    ),
    "latchfree.arena.kernels.allocator": ("abandon",),
}


def _modules() -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if name.startswith(("latchfree.", "latchfree_evidence.stress.")):
            yield module


def _kernels() -> set[Any]:
    """Return all kernels of the structure that are loaded."""
    contents = {content for module in _modules() for content in vars(module).values() if hasattr(content, "py_func")}
    return {kernel for kernel in contents if kernel.__module__.startswith(("latchfree.", __name__))}


def _called(kernel: Any) -> Iterator[Any]:
    """Return what the code of a kernel names: functions, and those it finds in modules."""
    names = kernel.py_func.__code__.co_names
    for name in names:
        content = kernel.py_func.__globals__.get(name)
        yield content
        if isinstance(content, ModuleType):
            yield from (getattr(content, attribute, None) for attribute in names)


def _callers(kernels: set[Any], replaced: set[Any]) -> set[Any]:
    """Return the kernels that are among those replaced, or call one, however indirectly."""
    calls = {kernel: {id(called) for called in _called(kernel)} for kernel in kernels}
    reached = {id(kernel) for kernel in replaced}
    while more := {id(k) for k, called in calls.items() if id(k) not in reached and called & reached}:
        reached |= more
    return {kernel for kernel in kernels if id(kernel) in reached}


def _replace(module: str, function: str, source: str) -> Any:
    """Put the function of that name in module `source` in the place of the one in `module`, wherever it is used."""
    original = getattr(import_module(module), function)
    replacement = getattr(import_module(source), function)
    for holder in _modules():
        if getattr(holder, function, None) is original:
            setattr(holder, function, replacement)
    return replacement


def _sources(module: str) -> str:
    """Return a digest of what a module of this package, which is not loaded yet, puts in the place of functions."""
    file = Path(__file__).resolve().parent.joinpath(*module.split(".")).with_suffix(".py")
    return digest_of(f"{__name__}.{module}", file) or f"unknown{os.getpid()}"


def apply_mutant(name: str) -> None:
    """Replace the functions of mutant `name` for the rest of this process, in which nodes are not freed.

    Raises
    ------
    ValueError
        If there is no such mutant.
    RuntimeError
        If the structure is loaded already.
    """
    if name not in MUTANTS:
        raise ValueError(f"unknown mutant {name!r}; there are: {', '.join(MUTANTS)}")
    common = f"mutants-{_sources('nothing_freed')}"
    own = f"{name}-{_sources(MUTANTS[name].source)}-{common}"
    jit.set_variant(own, _AFFECTED)
    packages = _PACKAGES[MUTANTS[name].target]
    for package in packages:
        for holder in _HOLDERS[package]:
            import_module(f"latchfree.{package}.{holder}")
    for module, functions in _COLLECTED.items() if "ctrie.kernels" in packages else ():
        for function in functions:
            _replace(module, function, f"{__name__}.nothing_freed")
    targets = [target.split(":") for target in MUTANTS[name].replaces]
    replaced = {_replace(module, function, f"{__name__}.{MUTANTS[name].source}") for module, function in targets}
    kernels = _kernels()
    mutated = _callers(kernels, replaced)
    for kernel in kernels:
        jit.recache(kernel, own if kernel in mutated else common)
