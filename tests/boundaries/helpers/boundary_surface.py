"""Enumerate the public API: every class, function, method, property and operator, by introspection."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from types import FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

#: The packages whose names are public, and public modules among those names.
FACES = (
    "latchfree",
    "latchfree.topics",
    "latchfree.streams",
    "latchfree.sketches",
    "latchfree.limiting",
    "latchfree_lincheck",
    "latchfree_explore",
    "latchfree_fsck",
    "latchfree_teach",
)

#: Public names that are not called, and why.
NOT_CALLED = {
    "latchfree.topics.matcher.Matcher": "a protocol: its engines are called",
    "latchfree.topics.snapshot.Snapshot": "an abstract base: its engines are called",
    "latchfree.sketches.sketch.Sketch": "an abstract base: its kinds are called",
    "latchfree.words.hash_bytes": "of a raw address: for compiled code, whose caller has checked the length",
    "latchfree.words.last_word": "of a raw address: for compiled code, whose caller has checked the length",
    "latchfree.words.tail_word": "of a raw address: for compiled code, whose caller has checked the length",
    "latchfree_teach.play.making.mutant_page": "applies a bug to the whole process; the gallery calls it in others",
    "latchfree_teach.gallery.building.build_gallery": "starts a process a bug; tests/teach/gallery calls it",
    "latchfree_teach.grading.grader.Grader": "starts a process an object; tests/teach/grading calls it with anything",
    "latchfree.ctrie.codecs.Codec": "an abstract base: a codec of one's own is among the variants of Ctrie",
}

#: Public modules whose calls are left out, and why.
NOT_OPENED = {
    "latchfree.kinds": "names for annotations",
    "latchfree_lincheck.record": "runs programs and servers of users; reads and writes no memory by address",
    "latchfree_lincheck.testing": "decorates classes of users; reads and writes no memory by address",
    "latchfree_lincheck.transactions": "graphs in plain Python; reads and writes no memory by address",
}

#: What public calls return.
RETURNED = (
    "latchfree.topics.concurrent.trie_snapshot.TrieSnapshot",
    "latchfree.topics.engines.copied_snapshot.CopiedSnapshot",
)

#: Methods in Python, and those that are compiled.
METHODS = (FunctionType, MethodDescriptorType, WrapperDescriptorType)

#: Methods of the object protocol that take no part: construction is called as the class.
_SKIPPED = {
    "__init__", "__new__", "__init_subclass__", "__subclasshook__", "__class_getitem__", "__getattribute__",
    "__setattr__", "__delattr__", "__replace__", "__getstate__", "__setstate__", "__firstlineno__", "__dir__",
    "__parameters__", "__post_init__", "_missing_", "__orig_class__", "__signature__",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """A public call.

    Attributes
    ----------
    owner : str
        The module and name of the class or function.
    name : str
        The name of the method or property; empty for a function, and for the making of an object.
    parameters : tuple of (str, str)
        The name of each parameter, and its kind: "positional", "keyword", "rest" or "named".
    kind : str
        "function", "class", "static" (called on the class), "method" or "property".
    """

    owner: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    kind: str

    @property
    def label(self) -> str:
        """The name that a failure is reported under."""
        short = self.owner.rpartition(".")[2]
        return f"{short}.{self.name}" if self.name else short


_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_POSITIONAL: "rest",
    inspect.Parameter.VAR_KEYWORD: "named",
}


def _parameters(call: Any, *, bound: bool) -> tuple[tuple[str, str], ...]:
    found = [(each.name, _KINDS[each.kind]) for each in inspect.signature(call).parameters.values()]
    return tuple(found[not bound :])


def _public(module: ModuleType) -> Iterator[Any]:
    for name in getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]:
        yield getattr(module, name)


def _objects() -> dict[str, Any]:
    """Return the public classes and functions of ours, each once, by module and name."""
    found: dict[str, Any] = {}
    for face in FACES:
        for item in _public(importlib.import_module(face)):
            contents = [item]
            if isinstance(item, ModuleType) and item.__name__ not in NOT_OPENED:
                contents = list(_public(item))
            for each in contents:
                module = getattr(each, "__module__", "") or ""
                name = getattr(each, "__name__", "")
                if module.startswith("latchfree") and name and (inspect.isclass(each) or callable(each)):
                    found.setdefault(f"{module}.{name}", each)
    return found | {name: resolve(name) for name in RETURNED}


def _members_of(owner: str, kind: type) -> Iterator[Member]:
    names: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("latchfree") or base.__module__ in ("collections.abc", "_collections_abc"):
            names |= vars(base)
    for name in sorted(names):
        static = inspect.getattr_static(kind, name)
        special = name.startswith("__") and name.endswith("__")
        if name in _SKIPPED or (name.startswith("_") and not special) or static is None:
            continue
        if isinstance(static, classmethod | staticmethod):
            yield Member(owner, name, _parameters(getattr(kind, name), bound=True), "static")
        elif isinstance(static, METHODS):
            yield Member(owner, name, _parameters(static, bound=False), "method")
        elif not special and (inspect.isdatadescriptor(static) or hasattr(static, "__get__")):
            yield Member(owner, name, (), "property")


def surface() -> list[Member]:
    """Return every public call, in a fixed order."""
    members = []
    for owner, item in sorted(_objects().items()):
        if owner in NOT_CALLED:
            continue
        if not inspect.isclass(item):
            call = getattr(item, "py_func", item)
            members.append(Member(owner, "", _parameters(call, bound=True), "function"))
        elif issubclass(item, Enum):
            members += _members_of(owner, item)
        elif not issubclass(item, BaseException | dict):  # a typed dict is a plain dict
            members.append(Member(owner, "", _parameters(item, bound=True), "class"))
            members += _members_of(owner, item)
    return members


def resolve(owner: str) -> Any:
    """Return a public class or function by module and name."""
    module, _, name = owner.rpartition(".")
    return getattr(importlib.import_module(module), name)
