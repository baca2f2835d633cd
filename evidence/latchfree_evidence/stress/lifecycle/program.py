"""Programs: what a few processes do with an arena and with themselves, as data that a seed decides.

Example: two processes; the first opens the arena twice and closes one opening, the second is killed while it writes::

    {"arena": "name", "bystander": true, "signals": [],
     "processes": [
        {"who": 0, "steps": [{"do": "use", "on": "a", "what": "ints", "how": "bulk"},
                             {"do": "pickle", "on": "a", "to": "b"}, {"do": "close", "on": "b"},
                             {"do": "use", "on": "a", "what": "ints", "how": "bulk"}]},
        {"who": 1, "steps": [{"do": "alarm", "after": 300, "then": "kill"},
                             {"do": "use", "on": "a", "what": "texts", "how": "put"}]}]}

Any subset of the steps is a program too: a step opens what it needs. So programs can be made small.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final, TypeAlias

from latchfree_evidence.stress.lifecycle.ledger import BYSTANDER, STRUCTURES

Step: TypeAlias = dict[str, Any]
Program: TypeAlias = dict[str, Any]

FORMAT: Final = "latchfree lifecycle 2"

_SLOTS: Final = ("a", "b")
_WAYS: Final = ("put", "mixed", "bulk", "scan", "many", "length")
_STEPS: Final = {
    "use": 10,
    "open": 2,
    "close": 3,
    "drop_opening": 1,
    "pickle": 3,
    "send": 1,
    "receive": 1,
    "snapshot": 3,
    "drop": 1,
    "clear": 1,
    "unlink": 1,
    "visit": 1,
    "side": 1,
    "ring": 2,
    "collect": 1,
    "inspect": 1,
    "threads": 2,
    "daemon": 2,
    "cycle": 1,
    "alarm": 4,
    "fork": 3,
    "exhaust": 1,
    "restore": 1,
    "pause": 1,
}
"""Steps that others may follow, and how often each is drawn."""
_LAST: Final = {
    "return": 5,
    "exit": 1,
    "kill": 3,
    "leave": 2,
    "exec": 1.2,
    "rest": 0.7,
    "daemonize": 1.5,
    "lose_descriptors": 1.5,
    "stop": 1.5,
}
"""Steps in which a life changes; after the last four and exec more steps follow."""
_THEN: Final = {"use": 5, "kill": 3, "stop": 2, "exit": 2, "fork": 1, "open": 1, "close": 1}


def generate(seed: int, number: int) -> Program:
    """Return a program: the one of this number in the series of this seed."""
    rng = random.Random(f"lifecycle {seed} {number}")
    seats = iter(range(BYSTANDER))
    processes = [{"who": next(seats)} for _ in range(rng.choice((1, 2, 2, 3)))]
    for process in processes:
        process["steps"] = _life(rng, seats, 0)  # type: ignore[assignment]
    program: Program = {
        "format": FORMAT,
        "seed": seed,
        "number": number,
        "arena": rng.choice(("name", "path")),
        "bystander": rng.random() < 0.6,
        "processes": processes,
        "signals": [],
    }
    for _ in range(rng.choice((0, 0, 1, 2))):
        send = rng.choice(("stop", "stop", "kill"))
        who = rng.choice(processes)["who"]
        program["signals"].append({"send": send, "to": who, "after": rng.randrange(1, 150), "until": _until(rng)})
    return program


def _life(rng: random.Random, seats: Any, depth: int) -> list[Step]:
    """Return what one process does from its start to its end."""
    steps: list[Step] = []
    for turn in range(3):
        for _ in range(rng.randrange(1, 6)):
            (kind,) = rng.choices(tuple(_STEPS), tuple(_STEPS.values()))
            if kind == "fork":
                who = next(seats, None) if depth < 2 else None
                if who is None:
                    continue
                life, wait = _life(rng, seats, depth + 1), _half(rng)
                # Who rests does not end before the program does.
                steps.append({"do": kind, "who": who, "steps": life, "wait": wait and life[-1:] != [{"do": "rest"}]})
            else:
                steps.append({"do": kind, **_details(rng, kind)})
        (last,) = rng.choices(tuple(_LAST), tuple(_LAST.values()))
        if last != "return":
            steps.append({"do": last, **({"until": _until(rng)} if last == "stop" else {})})
        if last in ("return", "exit", "kill", "leave", "rest") or turn == 2:
            break
    return steps


def _details(rng: random.Random, kind: str) -> Step:
    on, what = rng.choice(_SLOTS), rng.choice(STRUCTURES)
    if kind == "use":
        return {"on": on, "what": what, "how": rng.choice(_WAYS), "times": rng.choice((1, 3, 20))}
    if kind in ("open", "drop_opening", "clear", "unlink", "visit", "collect", "receive"):
        return {"on": on}
    if kind == "close":
        return {"on": on, "twice": _half(rng)}
    if kind == "pickle":
        return {"on": on, "what": rng.choice(STRUCTURES[:3]), "to": rng.choice(_SLOTS)}
    if kind == "send":
        return {"on": on, "what": rng.choice(STRUCTURES[:3])}
    if kind == "snapshot":
        return {"on": on, "what": what, "keep": rng.choice(("read", "keep", "iterate"))}
    if kind == "ring":
        return {"on": on, "how": rng.choice(("one", "many"))}
    if kind == "side":
        return {"arena": rng.choice(("name", "path")), "close": _half(rng), "unlink": _half(rng)}
    if kind in ("threads", "daemon"):
        most = 3 if kind == "threads" else 2
        how = rng.choice(("put", "bulk", "scan", "many"))
        return {"on": on, "what": rng.choice(STRUCTURES[:3]), "how": how, "count": rng.randrange(1, most + 1)}
    if kind == "cycle":
        return {"count": rng.choice((1, 4, 30)), "threshold": rng.choice((700, 50))}
    if kind == "alarm":
        (then,) = rng.choices(tuple(_THEN), tuple(_THEN.values()))
        times = rng.choice((1, 20)) if then in ("use", "stop", "fork", "open") else 1
        return {"on": on, "after": rng.randrange(50, 8000), "times": times, "then": then, "until": _until(rng)}
    if kind == "pause":
        return {"for": rng.randrange(1, 30)}
    return {}


def _half(rng: random.Random) -> bool:
    return rng.random() < 0.5


def _until(rng: random.Random) -> int:
    """Return for how many milliseconds a process is stopped; 0: until all others have ended."""
    return rng.choice((0, 5, 40))


def save(program: Program, path: Path) -> None:
    """Write a program to a file."""
    path.write_text(dumped(program))


def dumped(program: Program) -> str:
    """Return a program as text, a step a line."""
    text = json.dumps(program, indent=1)
    return text + "\n"


def load(path: Path) -> Program:
    """Read a program.

    Raises
    ------
    ValueError
        If the file holds something else.
    """
    try:
        program: Program = json.loads(path.read_text())
        if program["format"] != FORMAT or not isinstance(program["processes"], list):
            raise ValueError(path)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: not a program of `latchfree stress lifecycle`") from None
    return program
