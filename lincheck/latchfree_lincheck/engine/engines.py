"""The engines that a user can ask for, by name.

An engine takes a history and a model and returns a decision. The compiled engines encode the history and follow a plan
(`latchfree_lincheck.engine.decide`); the others search the calls as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from latchfree_lincheck.engine.any_model import CallSearch, by_z3, decide_calls, depth_first
from latchfree_lincheck.engine.bounds import Deadline, Expired
from latchfree_lincheck.engine.decide import PLANS, Decision, Plan, decide
from latchfree_lincheck.engine.encoding.encode import encodable, encode
from latchfree_lincheck.engine.encoding.forms import NotEncodable
from latchfree_lincheck.history import History
from latchfree_lincheck.history.compiled_code import NotThere
from latchfree_model import Model

_READING: Final = "the history was still being read"
_UNCOMPILED: Final = "the other engines are not compiled yet, and there is no time to"


class Engine(Protocol):
    """A judge of whole histories."""

    @property
    def name(self) -> str:
        """The name that a user asks for."""
        ...

    def accepts(self, model: Model[Any]) -> bool:
        """Return whether the engine knows the model."""
        ...

    def decide(self, history: History, model: Model[Any], memory: int, deadline: Deadline) -> Decision:
        """Judge a history of a model that the engine accepts.

        Raises
        ------
        ValueError
            If the model cannot make sense of a call, or the engine cannot hold the history.
        """
        ...


@dataclass(frozen=True, slots=True)
class CompiledEngine:
    """An engine for the built-in models and those that are compiled: encodes the history and follows a plan."""

    plan: Plan

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name

    def accepts(self, model: Model[Any]) -> bool:
        """Return whether the model is built in, or compiled."""
        return encodable(model)

    def decide(self, history: History, model: Model[Any], memory: int, deadline: Deadline) -> Decision:
        """See `Engine`. An engine that is asked for by name is compiled, whatever time that takes."""
        deadline.compiles = True
        try:
            return self.follow(history, model, memory, deadline)
        except NotEncodable as reason:
            raise ValueError(f"{reason}; use engine='python'") from None

    def follow(self, history: History, model: Model[Any], memory: int, deadline: Deadline) -> Decision:
        """Encode a history and follow the plan; raise NotEncodable if rows cannot hold it."""
        try:
            parts, meaning = encode(model, history, deadline)
        except Expired:
            return Decision("unknown", "frontier", _READING, gave_up="timeout")
        return decide(parts, meaning, history.times()[1], self.plan, memory, deadline)


@dataclass(frozen=True, slots=True)
class CallEngine:
    """An engine for any model: searches the calls as they are."""

    name: str
    search: CallSearch

    def accepts(self, model: Model[Any]) -> bool:
        """Return True: any model will do."""
        return True

    def decide(
        self, history: History, model: Model[Any], memory: int, deadline: Deadline, why: str = "chosen"
    ) -> Decision:
        """See `Engine`; `why` says why it is this engine's turn."""
        try:
            return decide_calls(history, model, self.search, memory, deadline, name=self.name, why=why)
        except Expired:
            return Decision("unknown", self.name, _READING, gave_up="timeout")


@dataclass(frozen=True, slots=True)
class Automatic:
    """The compiled engine where it can hold the history, else the engine in plain Python."""

    compiled: CompiledEngine
    other: CallEngine

    @property
    def name(self) -> str:
        """The compiled engine's name."""
        return self.compiled.name

    def accepts(self, model: Model[Any]) -> bool:
        """Return True: any model will do."""
        return True

    def decide(self, history: History, model: Model[Any], memory: int, deadline: Deadline) -> Decision:
        """See `Engine`."""
        try:
            return self.compiled.follow(history, model, memory, deadline)
        except NotEncodable:
            return self.other.decide(history, model, memory, deadline, f"{model.name!r} is not built in")
        except NotThere:
            decision = self.other.decide(history, model, memory, deadline, _UNCOMPILED)
            return replace(decision, gave_up="uncompiled") if decision.gave_up == "timeout" else decision


_PLAIN: Final = CallEngine("python", depth_first)

_ALL: Final[tuple[Engine, ...]] = (
    Automatic(CompiledEngine(PLANS["auto"]), _PLAIN),
    CompiledEngine(PLANS["monitor"]),
    CompiledEngine(PLANS["frontier"]),
    CompiledEngine(PLANS["wgl"]),
    _PLAIN,
    CallEngine("smt", by_z3),
)

ENGINES: Final[Mapping[str, Engine]] = {engine.name: engine for engine in _ALL}
"""By name; the names are `latchfree_lincheck.checking.verdict.EngineName`."""
