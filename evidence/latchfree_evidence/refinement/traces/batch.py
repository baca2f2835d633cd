"""Write a batch of traces as a TLA+ module, and let TLC check them.

All traces of a batch have one hash function, and each is a behaviour of its own (see `spec/mc/MCTrace.tla`): TLC
explores them side by side. A trace of n events has n + 1 states. A batch is accepted if TLC finds no deadlock and
exactly the states of all traces; fewer would mean that a trace was not followed to its end. A deadlock names the trace
and the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from latchfree_evidence.refinement.traces.events import Event
from latchfree_evidence.refinement.traces.mains import MAINS, main_value
from latchfree_evidence.targets.placement import LAYOUTS
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_model.tlc import SpecModel, run_model, spec_dir
from latchfree_model.tlc.values import Function, Value, show

DEPTHS: Final = {"flat": 1, "pairs": 2, "tree": 3, "lists": 11, "list": 11}
"""Layouts of keys that a trace may have, and how many levels the trie of the specification has for them."""
_LEVEL: Final = 6
_NAMES: Final = {
    "get": "lookup", "put": "put", "put_if_absent": "put_if_absent", "replace": "put_if_present",
    "replace_if": "replace_if", "remove": "remove", "remove_if": "remove_if", "snapshot": "snapshot", "clear": "clear",
    "fork": "fork",
}  # fmt: skip
ON_FORK: Final = "fork_"
"""Begins the name of an operation on the writable snapshot."""
_IF_EQUAL: Final = ("replace_if", "remove_if")
"""Operations that say whether they have found the expected value; the specification's answer that value."""
SKIPPED: Final = "skipped"
"""The result of an operation on the writable snapshot where there is none yet; it is no operation then."""
INVARIANTS: Final = "Linearizable TypeOK OldMainCommitted GenerationsGrowUp"


@dataclass(frozen=True)
class Trace:
    """A recorded run.

    Attributes
    ----------
    scenario : Scenario
        What ran; before the threads, puts of value 1.
    results : tuple
        What each operation of the scenario returned.
    events : tuple of Event
    source : str
        Where it comes from.
    """

    scenario: Scenario
    results: tuple[Any, ...]
    events: tuple[Event, ...]
    source: str


@dataclass(frozen=True)
class Rejection:
    """A trace that the specification does not allow.

    Attributes
    ----------
    trace : int
        Its index in the batch.
    event : int or None
        The index of the first event that the specification does not allow; the number of events, if all are allowed but
        operations are left unfinished.
    reason : str
        Why, in words.
    """

    trace: int
    event: int
    reason: str


def check_batch(traces: Sequence[Trace], *, timeout: float | None = None) -> Rejection | None:
    """Check that traces are behaviours of the specification.

    Parameters
    ----------
    traces : sequence of Trace
        One or more, all of one layout of keys.
    timeout : float, optional
        Seconds after which TLC is stopped.

    Returns
    -------
    Rejection or None
        The first trace that TLC finds to be none; None if all are.

    Raises
    ------
    ValueError
        If layouts differ, or the keys of a trace have no counterpart in the specification.
    RuntimeError
        If TLC fails, or does not come to an end.
    """
    root = spec_dir()
    wanted = sum(len(trace.events) + 1 for trace in traces)
    with TemporaryDirectory(prefix="latchfree-traces-") as folder:
        module, config = Path(folder, "Batch.tla"), Path(folder, "Batch.cfg")
        module.write_text(module_text(traces), encoding="utf-8")
        config.write_text(_CONFIG, encoding="utf-8")
        model = SpecModel(
            root=root,
            name="traces",
            module=str(module),
            config=str(config),
            profile="quick",
            expect="ok",
            property="Deadlock",
            summary="recorded runs",
            distinct=wanted,
        )
        result = run_model(model, timeout=timeout)
    if result.verdict == "ok":
        if result.distinct != wanted:
            raise RuntimeError(f"TLC found {result.distinct} states in traces of {wanted}")
        return None
    if result.verdict == "unknown" or result.trace is None:
        raise RuntimeError("; ".join([result.reason, *result.errors]))
    end: Any = result.trace.states[-1].variables
    number, event = end["trace"] - 1, end["next"] - 1
    events = traces[number].events
    if result.property != "Deadlock":
        reason = f"{result.property} is violated after {event} events"
    elif event < len(events):
        process = f"t{events[event].thread}"
        at = end["L"][process]["pc"]
        other = ", where it sees or answers something else" if at == events[event].action else ""
        reason = f"the specification has process {process} at {at}{other}"
    else:
        reason = "operations have not returned"
    return Rejection(number, event, reason)


_CONFIG: Final = f"""CONSTANTS
  Hash <- BatchHash
  Program <- BatchProgram
  InitialTrie <- BatchMem
  InitialMem <- ForkMem
  Traces <- BatchTraces
  Tracked <- TrackedAsRecorded
  MapOutcomes <- ForkOutcomes
  Swaps <- ForkSwaps
  MayBegin <- ForkMayBegin
  Root <- ForkRootOf
  SetRoot <- ForkSetRoot
  Installed <- TraceInstalled
  Walked <- TraceWalked
  WalkFromRoot <- ForkWalkFromRoot
  NameHeap <- TraceNameHeap
  INode <- TraceINode
  CNode <- TraceCNode
  TNode <- TraceTNode
  LNode <- TraceLNode
  Descriptor <- TraceDescriptor
  Alloc <- TraceAlloc
  Forever = FALSE
SPECIFICATION TSpec
INVARIANTS {INVARIANTS}
"""


def module_text(traces: Sequence[Trace]) -> str:
    """Return the module that holds a batch."""
    layouts = {trace.scenario.keys for trace in traces}
    if len(layouts) != 1 or not layouts <= set(DEPTHS):
        raise ValueError(f"traces of layouts {sorted(layouts)}: a batch has one, of {', '.join(DEPTHS)}")
    [layout] = layouts
    keys = sorted({each.arguments[0] for trace in traces for each in trace.scenario.operations if each.arguments})
    slices = [_slices(layout, key) for key in keys or [0]]
    hashes: dict[Value, Value] = {_key(key): bits for key, bits in zip(keys or [0], slices, strict=True)}
    if any(bit > 1 for bits in slices for bit in bits):
        raise ValueError(f"keys {keys} of layout {layout!r} need more than two slots at a level")
    threads = max(len(trace.scenario.threads) for trace in traces)
    longest = max(len(thread) for trace in traces for thread in trace.scenario.threads)
    menu = sorted({show(_operation(each)) for trace in traces for thread in trace.scenario.threads for each in thread})
    program = {f"t{k}": "[k \\in 1.." + str(longest) + " |-> Menu]" for k in range(threads)}
    lines = [
        "---- MODULE Batch ----",
        "EXTENDS MCTrace",
        f"BatchHash == {show(Function(hashes))}",
        f"Menu == {{{', '.join(menu)}}}",
        f"BatchProgram == [{', '.join(f'{name} |-> {value}' for name, value in program.items())}]",
        "BatchMem == Nothing",
        "BatchTraces == <<",
        ",\n".join(show(_record(trace, threads, tuple(map(_key, keys or [0])))) for trace in traces),
        ">>",
        "====",
        "",
    ]
    return "\n".join(lines)


def _record(trace: Trace, threads: int, keys: tuple[str, ...]) -> Function:
    """Return a trace as the specification takes it."""
    scenario = trace.scenario
    if any(each.f != "put" or each.arguments[1:] != (1,) for each in scenario.before):
        raise ValueError(f"before the threads there may be puts of value 1 and nothing else: {scenario}")
    number = len(scenario.before)
    ops: dict[Value, Value] = {}
    for k in range(threads):
        made: list[Value] = []
        for each in scenario.threads[k] if k < len(scenario.threads) else ():
            result = trace.results[number]
            number += 1
            if result != SKIPPED:
                made.append(Function({"op": _operation(each), "answer": _answer(each, result, keys)}))
        ops[f"t{k}"] = tuple(made)
    present = frozenset(_key(each.arguments[0]) for each in scenario.before)
    log = tuple((f"t{event.thread}", event.action, _seen(event), event.nodes) for event in trace.events)
    nodes = max((node for event in trace.events for node in event.nodes), default=1)
    return Function({"keys": present, "ops": Function(ops), "log": log, "nodes": nodes})


def _operation(each: Invocation) -> Function:
    name = each.f.removeprefix(ON_FORK)
    if name not in _NAMES:
        raise ValueError(f"the specification has no operation {each.f}; it has {', '.join(_NAMES)}")
    key = _key(each.arguments[0]) if each.arguments else ""
    values = each.arguments[1:]
    where: dict[Value, Value] = {"on": "fork"} if name != each.f else {}
    return Function({"op": _NAMES[name], "key": key, "val": values if len(values) > 1 else sum(values), **where})


def _seen(event: Event) -> Value:
    return main_value(event.seen) if event.action in MAINS else event.seen


def _answer(each: Invocation, result: Any, keys: tuple[str, ...]) -> Value:
    name = each.f.removeprefix(ON_FORK)
    if name == "snapshot":
        held = {_key(key): value for key, value in result}
        return Function({key: held.get(key, 0) for key in keys})
    if name in _IF_EQUAL:
        return each.arguments[1] if result else 0
    return 0 if result is None else int(result)


def _key(key: int) -> str:
    return f"k{key}"


def _slices(layout: str, key: int) -> tuple[int, ...]:
    h = LAYOUTS[layout].hashes[key] & LAYOUTS[layout].mask
    return tuple(h >> _LEVEL * level & (1 << _LEVEL) - 1 for level in range(DEPTHS[layout]))
