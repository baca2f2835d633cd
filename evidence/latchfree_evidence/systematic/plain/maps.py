"""Maps as users have them, on kernels in plain Python: `Ctrie` itself, with translated slots, methods and finalizers.

Example: in ``with maps(world) as stage: trie = Ctrie(arena=stage.arena())`` the line ``trie["tea"] = cup`` calls the
kernel `slots._assign` of `world` with the addresses of the three objects. The context of the map is the real one; the
addresses of compiled functions in it are numbers, by which `Interpreter` calls functions of `world`.

Memory of an arena that `Stage.arena` makes knows which words are free.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, cast

from latchfree import Ctrie
from latchfree.arena import Arena, layout
from latchfree.border import NO_ARGUMENT, ONE_ARGUMENT, Body, Border, Call
from latchfree.ctrie import slots as types
from latchfree.ctrie import store as stores
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.holds import Hold, Owner
from latchfree.ctrie.kernels.insert import FULL
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.interpreter import Interpreter
from latchfree_evidence.systematic.plain.memory import MARKING, Memory
from latchfree_evidence.systematic.plain.words import WORD, read_word
from latchfree_evidence.systematic.plain.world import World

_CAPACITY: Final = 4 << 20
_FULL: Final = int(FULL)
#: What a context says is the most bytes of keys and values that compiled code takes; Python takes more.
MOST_KEY: Final = 40
MOST_VALUE: Final = 72
_KINDS: Final = {"w": 0, "b": (0, 0)}
#: A function of C that takes anything and returns 0: what the collector of garbage calls for a map meanwhile.
_SHOWS_NOTHING: Final = cast(int, ctypes.cast(ctypes.pythonapi.PyErr_Occurred, ctypes.c_void_p).value)
_METHODS: Final = (
    "get", "pop", "remove", "put", "put_if_absent", "put_if_present", "get_or_insert", "setdefault", "replace",
)  # fmt: skip


class Lent(Memory):
    """The words of an arena of the library, which knows which are free; at an address, as kernels of objects use it.

    Attributes
    ----------
    base : int
        The address of word 0.
    shown : memoryview
        A word with the participant of calls for one key, 0 for none.
    """

    def __init__(self, arena: Arena) -> None:
        self.take_over(arena.words)
        self.base = arena.base
        arena.interpreter_participant()
        self.shown = arena.shown

    def is_pinned(self) -> bool:
        """Return whether the participant of calls for one key is pinned."""
        me = self.shown[0]
        return bool(me and self.bare[me + int(layout.P_PIN)])

    def __add__(self, number: int) -> int:
        return self.base + number


def _pin_is_taken(made: Any, steps: bool) -> Any:
    def wrapped(mem: Any, me: int) -> Any:
        if isinstance(mem, Memory) and (me < layout.PARTICIPANTS or mem.bare[me + int(layout.P_PIN)]):
            raise AssertionError("somebody is pinned who is no participant, or is pinned already")
        return made(mem, me)

    return wrapped


def _is_unpinned(made: Any, steps: bool) -> Any:
    def wrapped(mem: Any, me: int) -> Any:
        if isinstance(mem, Lent) and me == mem.shown[0] and not mem.is_pinned():
            raise AssertionError("somebody is unpinned who is not pinned")
        return made(mem, me)

    return wrapped


_PINS: Final = {
    "latchfree.arena.kernels.epochs:pin": _pin_is_taken,
    "latchfree.arena.kernels.epochs:unpin": _is_unpinned,
}


#: Kernels that say that the arena is full, and what they are called in `Stage.refusing`.
_REFUSING: Final = {
    "insert": "latchfree.ctrie.kernels.insert:insert", "remove": "latchfree.ctrie.kernels.remove:remove",
    "freeze": "latchfree.ctrie.kernels.snapshot:freeze", "clear": "latchfree.ctrie.kernels.snapshot:clear",
    "fork": "latchfree.ctrie.kernels.snapshot:fork_frozen",
}  # fmt: skip


def _words(things: tuple[Any, ...]) -> Any:
    return (ctypes.c_uint64 * max(1, len(things)))(*map(id, things))


class Stage:
    """Where maps are, and the interpreter that calls them.

    Attributes
    ----------
    c : Interpreter
    world : World
        The kernels, whose calls of the interpreter are served.
    absent : set of str
        Compiled functions that are not to be had.
    refusing : set of str
        Kernels that find the arena full when they are called next.
    """

    def __init__(self, world: World) -> None:
        self.c = Interpreter()
        refused = {place: self._refusing(name, MARKING.get(place)) for name, place in _REFUSING.items()}
        wrapped = world.with_wrapped({**MARKING, **_PINS, **refused})
        self.world = wrapped.with_named({**self.c.named(), "memory": self._memory, "peek": self._peek})
        self.absent: set[str] = set()
        self.refusing: set[str] = set()
        self._faces: Any = None
        self._lent: list[Lent] = []
        self._made: dict[str, Callable[..., Any]] = {}
        self.c.pinned = self._pinned

    def _refusing(self, name: str, checked: Any) -> Any:
        def wrapper(made: Any, steps: bool) -> Any:
            made = made if checked is None else checked(made, steps)

            def wrapped(*words: Any) -> Any:
                if name not in self.refusing:
                    return made(*words)
                self.refusing.remove(name)
                return _FULL

            return wrapped

        return wrapper

    def _memory(self, base: int) -> Any:
        return self._faces.memory(base)

    def _peek(self, place: Any, at: int) -> int:
        """Return a word, which is not free where an arena has it."""
        if isinstance(place, int):
            address = place + 8 * at & WORD
            for memory in self._lent:
                if 0 <= address - memory.base < memory.array.nbytes:
                    return int(memory[(address - memory.base) // 8])
            return read_word(address)
        return int(place[at])

    def _pinned(self) -> bool:
        """Return whether the participant for calls of one key is pinned, in any arena."""
        return any(memory.is_pinned() for memory in self._lent)

    def arena(self, capacity: int = _CAPACITY) -> Arena:
        """Return a new arena, whose memory knows which words are free."""
        made = Arena.anonymous(capacity)
        memory = Lent(made)
        self._faces.lend(made.base, memory)
        self._lent.append(memory)
        return made

    def without_participant(self, trie: Any) -> None:
        """Have no participant for calls on a map, as in a forked child, until Python asks for one."""
        trie._store.arena._cells.empty()

    def memory_of(self, arena: Arena) -> Any:
        """Return the memory of an arena."""
        return self._faces.memory(arena.base)

    def nodes(self, arena: Arena) -> int:
        """Return how many nodes of an arena are in use."""
        memory = self.memory_of(arena)
        self._faces.lend(arena.base, memory.bare)
        try:
            return arena.census().nodes
        finally:
            self._faces.lend(arena.base, memory)

    def function(self, symbol: str) -> Callable[..., Any]:
        """Return a function of the table of calls."""
        if symbol not in self._made:
            body = cast(Any, TRIE.calls[symbol]).function
            within = inspect.getclosurevars(body).nonlocals if body.__closure__ else None
            if within is None:
                self._made[symbol] = self.world[body]
            else:
                kernel, like = self.world[within["operation"]], [_KINDS[each] for each in symbol[-2:]]
                self._made[symbol] = lambda *words: kernel(*words, *like)
        return self._made[symbol]

    def address_of(self, symbol: str) -> int:
        """Return the number of a function, 0 if it is not to be had."""
        if symbol in self.absent:
            return 0
        shows = _SHOWS_NOTHING if symbol == "traverse_o" else None
        return self.c.address_of(symbol, self.function(symbol), shows)

    def builtin(self, name: str, context: bytes) -> Callable[..., Any]:
        """Return a builtin bound to a context."""
        function, passed = self.function(name), cast(Body, TRIE.calls[name]).passed
        if passed == NO_ARGUMENT:
            return lambda: self.c.object(function, id(context), 0)
        if passed == ONE_ARGUMENT:
            return lambda thing: self.c.object(function, id(context), id(thing))

        def called(*things: Any) -> Any:
            words = _words(things)
            return self.c.object(function, id(context), ctypes.addressof(words), len(things))

        return called

    def look(self) -> None:
        """Fail if something was wrong that nobody has heard of."""
        if self.c.broken:
            raise AssertionError(f"something was wrong: {self.c.broken[0]!r}") from self.c.broken[0]

    # what the interpreter calls for maps ---------------------------------------------------------------------------

    def slots(self) -> Iterator[tuple[type[Any], str, Any]]:
        """Yield the classes and names of attributes, and what stands in their place."""
        c, function = self.c, self.function
        yield Ctrie, "__getitem__", lambda this, key: c.object(function("slot_subscript"), id(this), id(key))
        yield Ctrie, "__contains__", lambda this, key: bool(c.number(function("slot_contains"), id(this), id(key)))
        yield Ctrie, "__setitem__", lambda this, key, value: self._write(this, key, id(value))
        yield Ctrie, "__delitem__", lambda this, key: self._write(this, key, 0)
        for name in _METHODS:
            yield Ctrie, name, self._method(name)
        for name in ("view_now", "fork_now"):
            yield stores.Store, name, self._taking(name)
        for cls, name in ((Hold, "slot_end_hold"), (Owner, "slot_end_owner")):
            yield cls, "__del__", self._ending(name)

    def _write(self, this: Any, key: Any, value: int) -> None:
        if self.c.number(self.function("slot_assign"), id(this), id(key), value):
            raise AssertionError("a write returns neither 0 nor -1")

    def _method(self, name: str) -> Callable[..., Any]:
        function = self.function(f"method_{name}")

        def called(this: Any, *things: Any, **named: Any) -> Any:
            words, names = _words((*things, *named.values())), tuple(named)
            who = id(names) if names else 0
            return self.c.object(function, id(this), ctypes.addressof(words), len(things), who)

        return called

    def _taking(self, name: str) -> Callable[..., Any]:
        function = self.function(f"method_{name}")
        return lambda this: self.c.object(function, id(this), 0)

    def _ending(self, name: str) -> Callable[..., Any]:
        function = self.function(name)

        def ended(this: Any) -> None:
            with suppress(Exception):  # which is in `broken`, where `look` finds it
                self.c.call(function, id(this))

        return ended


@contextmanager
def _replaced(target: Any, name: str, new: Any) -> Iterator[None]:
    there = name in vars(target)
    old = vars(target)[name] if there else None
    setattr(target, name, new)
    try:
        yield
    finally:
        if there:
            setattr(target, name, old)
        else:
            delattr(target, name)


@contextmanager
def maps(world: World) -> Iterator[Stage]:
    """Have maps call the kernels of a world until the end of the block; collect no garbage meanwhile."""
    stage = Stage(world)
    ready, address_of = Border.ready, Border.address_of

    def number(self: Border, name: str) -> Any:
        bare = self is TRIE and not isinstance(self.calls[name], Call)
        return stage.address_of(name) if bare else ready(self, name)

    def number_made(self: Border, name: str) -> Any:
        bare = self is TRIE and not isinstance(self.calls[name], Call)
        return stage.address_of(name) if bare else address_of(self, name)

    collects = gc.isenabled()
    gc.disable()
    ends: Any = vars(types)["_ends"]
    try:
        with ExitStack() as stack:
            stage._faces = stack.enter_context(faces(stage.world))
            ends.clear()
            stack.callback(ends.clear)
            stack.enter_context(_replaced(Border, "ready", number))
            stack.enter_context(_replaced(Border, "address_of", number_made))
            stack.enter_context(_replaced(stores, "builtin", stage.builtin))
            stack.enter_context(_replaced(types, "MAX_KEY_BYTES", MOST_KEY))
            stack.enter_context(_replaced(types, "MAX_VALUE_BYTES", MOST_VALUE))
            for target, name, new in stage.slots():
                stack.enter_context(_replaced(target, name, new))
            yield stage
            stage.look()
    finally:
        if collects:
            gc.enable()
