"""A behaviour found by TLC: its states, the actions between them, and how it ends."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from latchfree_model.tlc.messages import BACK_TO_STATE, INITIAL_INVARIANT, STATE, STUTTERING, Message
from latchfree_model.tlc.values import Json, Value, parse_value, to_json

HEADER = re.compile(r"(\d+): <(?P<action>.*?)(?: (?P<location>line \d+, col .*?))?>$")
VARIABLE = re.compile(r"^(?:/\\ )?([^\W\d]\w*) = ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TraceState:
    """One state of a trace.

    Parameters
    ----------
    index : int
        Its number, from 1.
    action : str
        The action that led to it; ``Initial predicate`` for the first.
    location : str
        Where the action stands: ``line 21, col 12 to line 23, col 31 of module Ctrie``, or empty.
    variables : mapping
        The value of each variable.
    """

    index: int
    action: str
    location: str
    variables: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Trace:
    """A behaviour: its states, and for an infinite one how it goes on.

    Parameters
    ----------
    states : tuple of TraceState
        The states, in order.
    back_to : int, optional
        The state that follows the last one again, in a lasso.
    stuttering : bool
        Whether the last state lasts for ever.
    """

    states: tuple[TraceState, ...]
    back_to: int | None = None
    stuttering: bool = False

    def __len__(self) -> int:
        return len(self.states)

    def steps(self) -> Iterator[tuple[TraceState, TraceState]]:
        """Yield each state but the last with the one that follows it."""
        return zip(self.states, self.states[1:], strict=False)

    def to_json(self) -> dict[str, object]:
        """Return the trace for a JSON file."""
        return {
            "states": [
                {
                    "index": state.index,
                    "action": state.action,
                    "location": state.location,
                    "variables": variables_to_json(state.variables),
                }
                for state in self.states
            ],
            "back_to": self.back_to,
            "stuttering": self.stuttering,
        }


def variables_to_json(variables: Mapping[str, Value]) -> dict[str, Json]:
    """Return the values of a state for a JSON file."""
    return {name: to_json(value) for name, value in variables.items()}


def parse_variables(text: str) -> dict[str, Value]:
    r"""Parse a state: ``/\ x = 1`` lines, or ``x = 1`` alone where there is one variable.

    Raises
    ------
    ValueError
        If a value cannot be parsed; the message names the variable.
    """
    found = list(VARIABLE.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    variables: dict[str, Value] = {}
    for match, end in zip(found, ends, strict=True):
        try:
            variables[match[1]] = parse_value(text[match.end() : end])
        except ValueError as error:
            raise ValueError(f"variable {match[1]}: {error}") from None
    return variables


@dataclass(slots=True)
class TraceReader:
    """Collects the messages that make up a trace."""

    states: list[TraceState] = field(default_factory=list)
    back_to: int | None = None
    stuttering: bool = False

    def feed(self, message: Message) -> None:
        """Take one message; those that are not about a trace are ignored."""
        head, _, body = message.text.partition("\n")
        if message.code == STATE:
            match = HEADER.match(head)
            if match is None:
                raise ValueError(f"expected a state '<number>: <action>', got {head!r}")
            location = match["location"] or ""
            self.states.append(TraceState(int(match[1]), match["action"], location, parse_variables(body)))
        elif message.code == INITIAL_INVARIANT and body:
            self.states.append(TraceState(1, "Initial predicate", "", parse_variables(body)))
        elif message.code == BACK_TO_STATE:
            self.back_to = int(head.partition(":")[0])
        elif message.code == STUTTERING:
            self.stuttering = True

    def trace(self) -> Trace | None:
        """Return the trace, or None if no state was seen."""
        return Trace(tuple(self.states), self.back_to, self.stuttering) if self.states else None
