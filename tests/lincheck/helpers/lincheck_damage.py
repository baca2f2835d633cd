"""Damaged files of histories, and a slow reader of its own that says what a damaged text comes to."""

import json
import re

from latchfree_lincheck import Operation
from latchfree_model import UNKNOWN

KEPT = ("history", "process", "f", "arguments", "invoke", "return")


class Refused(Exception):
    """The text is no history; with `harmless`, it may also be read as if the line were as before."""

    def __init__(self, harmless=False):
        super().__init__()
        self.harmless = harmless


EVENTS = [
    (0, "invoke", "write", 12), (1, "invoke", "read", "nil"), (0, "ok", "write", 12), (2, "invoke", "cas", "[12 3]"),
    (1, "ok", "read", 12), (3, "invoke", "cas", "[7 1]"), (3, "fail", "cas", "[7 1]"), (2, "info", "cas", ":timed-out"),
    (11, "invoke", "write", 5), (11, "fail", "write", ":timed-out"), (0, "invoke", "read", "nil"), (0, "ok", "read", 3),
    (1, "invoke", "write", 21), (1, "ok", "write", 21), (0, "invoke", "read", "nil"), (0, "ok", "read", 12),
]  # fmt: skip
"""A violation of a register in which calls fail, time out and overlap."""

KV = {"write": "put", "read": "get", "cas": "append"}


def texts():
    """Return a file of each format of text."""
    records = [
        {"history": h, "process": p, "f": f, "arguments": a, "result": r, "invoke": i, "return": t}
        for h, p, f, a, r, i, t in [
            ("one", 0, "write", [12], None, 1, 3), ("one", 1, "read", [], 12, 2, 5),
            ("two", "x", "write", ["é"], None, 1, 9), ("one", 2, "cas", [12, 3], True, 4, 40),
            ("two", 1, "read", [], "é", 10, 11), ("one", 0, "read", [], 12, 50, 60),
        ]
    ]  # fmt: skip
    log = "".join(f"INFO  jepsen.util - {p}\t:{t}\t:{f}\t{v}\n" for p, t, f, v in EVENTS)
    edn = "".join(
        f"{{:process {p}, :type :{t}, :f :{f}, :value {v}, :index {index}}}\n"
        for index, (p, t, f, v) in enumerate(EVENTS)
    )
    kv = "".join(
        f'{{:process {p}, :type :{t}, :f :{KV[f]}, :key "{p % 2}", :value "x {v} y"}}\n' for p, t, f, v in EVENTS
    )
    return {
        "jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "jepsen-log": "INFO  jepsen.core - Worker 0 starting\n" + log,
        "jepsen-edn": edn,
        "porcupine-kv": kv.replace('"1"', '"k"').replace('"0"', '"k"'),
    }


def line_damage(rng, data):
    """Return a function that cuts bytes, or doubles or exchanges lines, alike for texts of one length."""
    kind = rng.choice(["none", "cut", "double", "exchange", "cut"])
    lines = data.count(b"\n")
    one, other, at = rng.randrange(lines), rng.randrange(lines), rng.randrange(len(data) + 1)

    def apply(given):
        if kind == "cut":
            return given[:at]
        parts = given.split(b"\n")
        if kind == "double" and len(parts) > one:
            parts.insert(one, parts[one])
        if kind == "exchange" and len(parts) > max(one, other):
            parts[one], parts[other] = parts[other], parts[one]
        return b"\n".join(parts)

    return apply


def flipped(rng, data):
    """Return bytes of which one bit is another."""
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def slow(format, data):
    """Return the operations that bytes come to, by history, as `compared` gives them; or raise Refused."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Refused from None
    return _records(text) if format == "jsonl" else _events(format, text)


def _records(text):
    found = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            kind, fields = json.loads(line, object_pairs_hook=lambda pairs: ("object", pairs))
            record = dict(fields)
        except (ValueError, TypeError):
            raise Refused from None
        if kind != "object" or len(record) < len(fields) or not set(KEPT) <= set(record):
            raise Refused
        if set(record) - {*KEPT, "result", "object", "model"} or not isinstance(record["history"], str):
            raise Refused
        if not isinstance(record["arguments"], list) or not isinstance(record["f"], str):
            raise Refused
        numbers = [record["invoke"], *([] if record["return"] is None else [record["return"]])]
        if not all(type(each) is int and abs(each) < 2**63 for each in numbers) or sorted(numbers) != numbers:
            raise Refused
        if type(record["process"]) not in (int, str) or (record["return"] is None and "result" in record):
            raise Refused
        mine = found.setdefault(record["history"], [])
        result = record.get("result", UNKNOWN)
        mine.append(
            (record["process"], record["f"], tuple(record["arguments"]), result, record["invoke"], record["return"])
        )
    for mine in found.values():
        _require_turns(mine)
    return found


def _require_turns(operations):
    for place, (process, _, _, _, begin, end) in enumerate(operations):
        for other in operations[:place]:
            apart = (end is not None and end <= other[4]) or (other[5] is not None and other[5] <= begin)
            if other[0] == process and not apart:
                raise Refused


LINES = {
    "jepsen-log": re.compile(r"INFO  jepsen\.util - (\d{1,18})\t:(\w+)\t:(\w+)\t(nil|:timed-out|\d+|\[\d+ \d+\])"),
    "jepsen-edn": re.compile(
        r"\{:process (\d+) :type :(\w+) :f :(\w+) :value (nil|:timed-out|\d+|\[\d+ \d+\]) :index (\d+)\}"
    ),
    "porcupine-kv": re.compile(r'\{:process (\d+) :type :(\w+) :f :(\w+) :key "([^"\\]*)" :value "([^"\\]*)"\}'),
}
OTHERS = re.compile(r"(?!.*jepsen\.util)(?!.*:(invoke|ok|fail|info)\b).*")


def _events(format, text):
    running, done, lost, index, time, any_event = {}, [], set(), -1, 0, False
    for line in text.split("\n"):
        line = line.rstrip("\r") if format == "jepsen-log" else line
        if not line.strip(" \t,\r") or (format == "jepsen-log" and OTHERS.fullmatch(line)):
            continue
        if format != "porcupine-kv":
            line = line if format == "jepsen-log" else re.sub(r"[\s,]+", " ", line).strip()
        else:
            line = line.replace(",", "")
        found = LINES[format].fullmatch(line)
        numbers = [] if found is None else [found[1], *(found.groups()[3:] if format != "porcupine-kv" else ())]
        if found is None or any(re.search(r"(?<!\d)0\d", each) for each in numbers):
            raise Refused(harmless=True)
        any_event = True
        process, kind, f, *value = int(found[1]), found[2], found[3], *found.groups()[3:]
        if format == "jepsen-edn":
            if int(value[1]) <= index:
                raise Refused
            index = int(value.pop())
        key = value.pop(0) if format == "porcupine-kv" else None
        kind = "compared" if (kind, f, format) == ("fail", "cas", "jepsen-log") and value[0].startswith("[") else kind
        time += _event((running, done, lost), time + 1, process, kind, f, key, value[0])
    if format == "jepsen-log" and any_event and not text.endswith("\n"):
        raise Refused
    for process, (f, arguments, begin) in running.items():
        done.append((process, f, arguments, UNKNOWN, begin, None))
    return {"h": sorted(done, key=lambda each: each[4])}


def _event(state, time, process, kind, f, key, value):
    """Apply an event; return 1 if it takes a tick."""
    running, done, lost = state
    functions = ("get", "put", "append") if key is not None else ("read", "write", "cas")
    if f not in functions or kind not in ("invoke", "ok", "fail", "info", "compared"):
        raise Refused
    if kind == "invoke":
        if process in running or process in lost:
            raise Refused
        running[process] = f, _arguments(f, key, value), time
        return 1
    if process not in running or running[process][0] != f:
        raise Refused
    _, arguments, begin = running.pop(process)
    if kind == "info":
        lost.add(process)
        done.append((process, f, arguments, UNKNOWN, begin, None))
    elif kind != "fail":
        reads = f in ("read", "get")
        said = arguments if key is None else arguments[1:]
        echoes = reads or value == "nil" or _arguments(f, None, value) == said
        if not echoes or (key is not None and key != arguments[0]):
            raise Refused
        result = {"read": lambda: _plain(value), "get": lambda: value, "cas": lambda: kind == "ok"}.get(
            f, lambda: None
        )()
        done.append((process, f, arguments, result, begin, time))
        return 1
    return 0


def _arguments(f, key, value):
    if key is not None:
        return (key,) if f == "get" else (key, value)
    if f in ("put", "append"):
        return (value,)
    if f == "read":
        return ()
    parsed = _plain(value)
    if f == "cas" and not isinstance(parsed, tuple):
        raise Refused
    return parsed if f == "cas" else (parsed,)


def _plain(value):
    if value == ":timed-out":
        raise Refused
    if value.startswith("["):
        return tuple(int(each) for each in value[1:-1].split())
    return None if value == "nil" else int(value)


def compared(operation: Operation):
    """Return an operation as `slow` gives them."""
    return (operation.process, operation.f, operation.arguments, operation.result, operation.invoke, operation.return_)


def damaged(rng, whole):
    """Return a text with its lines damaged, without and with a bit flipped before; six times in ten there is one."""
    damage = line_damage(rng, whole)
    changed = flipped(rng, whole) if rng.random() < 0.6 else whole
    if changed.count(b"\n") != whole.count(b"\n"):  # other lines have these numbers
        return whole, changed
    return damage(whole), damage(changed)


def truth(read, *given):
    """Return what a slow reader comes to, None if it refuses; and whether the text may be read as before."""
    try:
        return read(*given), False
    except Refused as refused:
        return None, refused.harmless
