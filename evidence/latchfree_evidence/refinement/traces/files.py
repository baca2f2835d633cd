"""Traces as JSON files, so that a rejected one can be checked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.refinement.traces.batch import Trace
from latchfree_evidence.refinement.traces.events import Event
from latchfree_evidence.refinement.traces.mains import MAINS, main_value
from latchfree_explore.scenario import Scenario

VERSION: Final = 3


class TraceError(ValueError):
    """A file that holds no trace."""


def to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace as a document."""
    results = [sorted(map(list, each)) if isinstance(each, frozenset) else each for each in trace.results]
    return {
        "latchfree": "trace",
        "version": VERSION,
        "source": trace.source,
        "scenario": str(trace.scenario),
        "results": results,
        "events": [[*event[:-1], list(event.nodes)] for event in trace.events],
    }


def read_trace(path: Path) -> Trace:
    """Read a trace.

    Raises
    ------
    TraceError
        Naming the file, what is wrong and what was expected.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TraceError(f"{path}: expected JSON: {error}") from None
    if not isinstance(document, dict) or document.get("latchfree") != "trace":
        raise TraceError(f'{path}: expected an object with "latchfree": "trace"')
    if document.get("version") != VERSION:
        raise TraceError(f"{path}: version {document.get('version')!r} of the format; this program reads {VERSION}")
    events = document.get("events")
    if not isinstance(events, list) or not all(_is_event(event) for event in events):
        form = "a list of [thread, action, seen, site, nodes] (a main node seen: C k0=1 +1)"
        raise TraceError(f"{path}: 'events' is {form}, not {str(events)[:80]}")
    try:
        scenario = Scenario.parse(document["scenario"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TraceError(f"{path}: 'scenario': {error}") from None
    results = document.get("results")
    if not isinstance(results, list) or len(results) != len(scenario.operations):
        raise TraceError(f"{path}: 'results' is a list with one result for each operation of {scenario}")
    if any(event[0] >= len(scenario.threads) for event in events):
        raise TraceError(f"{path}: an event of a thread that is not in {scenario}")
    answers = tuple(frozenset(map(tuple, each)) if isinstance(each, list) else each for each in results)
    return Trace(
        scenario,
        answers,
        tuple(map(_event, events)),
        str(document.get("source", "")),
    )


def _event(event: list[Any]) -> Event:
    thread, action, seen, site, nodes = event
    return Event(thread, action, seen, site, tuple(nodes))


def _is_event(event: Any) -> bool:
    return (
        isinstance(event, list)
        and len(event) == 5
        and type(event[0]) is int
        and event[0] >= 0
        and all(isinstance(part, str) for part in event[1:4])
        and isinstance(event[4], list)
        and all(type(node) is int and node > 0 for node in event[4])
        and (event[1] not in MAINS or _is_main(event[2]))
    )


def _is_main(text: str) -> bool:
    try:
        main_value(text)
    except ValueError:
        return False
    return True
