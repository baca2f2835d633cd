"""Damaged files for the commands, and what a slow reader and the definition of linearizability say about them.

Events that are followed and transactions have slow readers here; the other formats have theirs in `lincheck_damage`.
"""

import json
import re

from lincheck_brute import brute
from lincheck_damage import Refused, slow, texts

from latchfree_cli import exits
from latchfree_lincheck import Operation
from latchfree_lincheck.transactions import Transaction, check_transactions
from latchfree_model import UNKNOWN, get_model

MODELS = dict.fromkeys(["jsonl", "jepsen-log", "jepsen-edn"], "cas-register") | {"porcupine-kv": "append-kv"}

TRANSACTIONS = [
    (0, "invoke", ["append", "x", 1]), (1, "invoke", ["r", "x", None], ["append", "y", 21]),
    (0, "ok", ["append", "x", 1]), (2, "invoke", ["append", "x", 12], ["append", "y", 3]),
    (1, "ok", ["r", "x", [1]], ["append", "y", 21]), (2, "info", ["append", "x", 12], ["append", "y", 3]),
    (3, "invoke", ["append", "x", 5]), (3, "fail", ["append", "x", 5]),
    (0, "invoke", ["r", "x", None], ["r", "y", None]), (0, "ok", ["r", "x", [1, 12]], ["r", "y", [21]]),
]  # fmt: skip
"""Transactions of which the last read a part of another one: not serializable."""

EVENTS = [
    {"type": "invoke", "process": 0, "f": "write", "arguments": [12]}, {"type": "invoke", "process": 1, "f": "read"},
    {"type": "ok", "process": 0, "result": None}, {"type": "invoke", "process": 2, "f": "cas", "arguments": [12, 3]},
    {"type": "ok", "process": 1, "result": 12}, {"type": "invoke", "process": 3, "f": "write", "arguments": [7]},
    {"type": "fail", "process": 3, "time": 5}, {"type": "info", "process": 2, "time": 1},
    {"type": "invoke", "process": 3, "f": "read", "arguments": []}, {"type": "ok", "process": 3, "result": 3},
    {"type": "invoke", "process": 0, "f": "read", "arguments": []}, {"type": "ok", "process": 0, "result": 12},
]  # fmt: skip
"""Events of which the last shows a violation."""


def files():
    """Return a file of each kind as bytes: the formats of `lincheck_damage`, transactions in two, and events."""
    edn = "".join(
        f"{{:type :{kind}, :process {process}, :f :txn, :value [{' '.join(map(_edn, operations))}], :index {index}}}\n"
        for index, (process, kind, *operations) in enumerate(TRANSACTIONS)
    )
    lines, running = [], {}
    for time, (process, kind, *operations) in enumerate(TRANSACTIONS):
        if kind == "invoke":
            running[process] = time
            continue
        end = {"return": None} if kind == "info" else {"type": kind, "return": time}
        lines.append({"process": process, "invoke": running.pop(process), **end, "transaction": operations})
    found = texts() | {"txn-edn": edn, "txn-json": _lines(lines), "events": _lines(EVENTS)}
    return {kind: text.encode() for kind, text in found.items()}


def usual_files():
    """Return a file of each format for which the command has a fast lane: one history, and no line is unusual."""
    found = texts()
    records = [
        {"history": "h", "process": p, "f": f, "arguments": a, "result": r, "invoke": i, "return": t}
        for p, f, a, r, i, t in [
            (0, "write", [12], None, 1, 3), (1, "read", [], 12, 2, 5), ("x", "write", [5], None, 1, 9),
            (2, "cas", [12, 3], True, 4, 40), (0, "read", [], 5, 10, 11), (1, "cas", [7, 1], False, 12, 13),
            (0, "read", [], 12, 50, 60),
        ]
    ]  # fmt: skip
    lost = {"history": "h", "process": 3, "f": "write", "arguments": [7], "invoke": 20, "return": None}
    records = [{**each, "model": "cas-register"} for each in [*records[:5], lost, *records[5:]]]
    found |= {"jsonl": _lines(records), "jepsen-log": found["jepsen-log"].partition("\n")[2]}
    found["porcupine-kv"] = found["porcupine-kv"].replace(":timed-out", "gone")
    return {kind: text.encode() for kind, text in found.items()}


def _lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def _edn(operation):
    f, key, value = operation
    shown = "nil" if value is None else f"[{' '.join(map(str, value))}]" if isinstance(value, list) else value
    return f"[:{f} :{key} {shown}]"


def expected(kind, data):
    """Return the exit code of ``check`` and of the other commands, or raise Refused."""
    if kind == "events":
        return _follow(data)
    if kind.startswith("txn"):
        found = (_from_edn if kind == "txn-edn" else _from_json)(_text(data))
        try:
            verdict = check_transactions(found, kind="list-append").verdict if found else "nothing"
        except ValueError:  # an element that is appended twice
            raise Refused from None
        return exits.NOTHING if verdict == "nothing" else exits.OF_VERDICT[verdict]
    model = get_model(MODELS[kind])
    histories = [[Operation(*row) for row in rows] for rows in slow(kind, data).values()]
    for operations in histories:
        try:
            for operation in operations:
                model.validate(operation.call)
        except ValueError:
            raise Refused from None
    if not any(histories):
        return exits.NOTHING
    legal = all(brute(part, model) for operations in histories for part in _parts(operations, model))
    return exits.OK if legal else exits.VIOLATION


def _parts(operations, model):
    parts = {}
    for operation in operations:
        parts.setdefault(model.partition(operation.call), []).append(operation)
    return parts.values()


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused from None


def _record(line):
    try:
        kind, fields = json.loads(line, object_pairs_hook=lambda pairs: ("object", pairs), parse_constant=_refuse)
        record = dict(fields)
    except (ValueError, TypeError):
        raise Refused from None
    if kind != "object" or len(record) < len(fields) or "object" in map(type, record.values()):
        raise Refused
    return record


def _refuse(constant):
    raise ValueError(constant)


def _is_integer(value):
    return type(value) is int


# events --------------------------------------------------------------------------------------------------------------

_FIELDS = {"invoke": {"f", "arguments", "object"}, "ok": {"result"}, "fail": set(), "info": set()}


def _follow(data):
    """Return the code of ``check --follow``, which ends at a violation; what stands behind that is not read."""
    model, running, done, ended = get_model("cas-register"), {}, [], 0
    for time, line in enumerate(data.split(b"\n")):
        if not line.strip():
            continue
        event = _record(_text(line))
        kind, process = event.get("type"), event.get("process")
        if kind not in _FIELDS or type(process) not in (int, str):
            raise Refused
        if set(event) - {"type", "process", "time"} - _FIELDS[kind]:
            raise Refused
        if kind == "invoke":
            f, arguments, name = event.get("f"), event.get("arguments", []), event.get("object")
            if not isinstance(f, str) or not isinstance(arguments, list) or not isinstance(name, str | None):
                raise Refused
            operation = Operation(process, f, tuple(arguments), UNKNOWN, time, None, name)
            _require(model, operation)
            if process in running or not f:
                raise Refused
            running[process] = operation
            continue
        if process not in running:
            raise Refused
        began = running[process]
        result = event.get("result", UNKNOWN)
        ending = Operation(process, began.f, began.arguments, result, began.invoke, time, began.object)
        _require(model, ending)
        del running[process]
        ended += 1
        if kind == "ok":
            done.append(ending)
        elif kind == "info":
            done.append(began)
        if not all(brute(part, model) for part in _objects([*done, *running.values()])):
            return exits.VIOLATION
    return exits.OK if ended else exits.NOTHING


def _require(model, operation):
    try:
        hash(operation.arguments)
        model.validate(operation.call)
    except (TypeError, ValueError):
        raise Refused from None


def _objects(operations):
    parts = {}
    for operation in operations:
        parts.setdefault(operation.object, []).append(operation)
    return parts.values()


# transactions --------------------------------------------------------------------------------------------------------

_MAP = re.compile(r"\{:type :(\w+) :process (\d+) :f :txn :value \[(.*)\] :index (\d+)\}")
_MICRO = re.compile(r" *\[:(append|r) (:\w+) (nil|\d+|\[\d*(?: \d+)*\])\]")
_NUMBER = re.compile(r"(?<!\d)0\d")


def _from_edn(text):
    events, latest = [], -1
    for line in text.split("\n"):
        line = re.sub(r"[\s,]+", " ", line).strip()
        if not line:
            continue
        found = _MAP.fullmatch(line)
        micro = found and re.fullmatch(f"(?:{_MICRO.pattern})*", found[3])
        if not micro or _NUMBER.search(line):
            raise Refused(harmless=True)
        kind, process, _, index = found.groups()
        if int(index) <= latest or kind not in ("invoke", "ok", "fail", "info"):
            raise Refused
        latest = int(index)
        operations = tuple((f, key, _value(f, value)) for f, key, value in _MICRO.findall(found[3]))
        events.append((kind, int(process), operations))
    paired = any(kind == "invoke" for kind, *_ in events)
    return _paired(events) if paired else [Transaction(o, k, p, None, None, None) for k, p, o in events]


def _value(f, value):
    if value.startswith("["):
        if f != "r":
            raise Refused
        return tuple(map(int, value[1:-1].split()))
    if value == "nil" and f != "r":
        raise Refused
    return None if value == "nil" else int(value)


def _paired(events):
    running, found = {}, []
    for time, (kind, process, operations) in enumerate(events):
        if kind == "invoke":
            if process in running:
                raise Refused
            running[process] = len(found)
            found.append(Transaction(operations, "info", process, time, None, None))
            continue
        if process not in running:
            raise Refused
        place = running.pop(process)
        called = found[place]
        said, done = ([(f, k, None if f == "r" else v) for f, k, v in each] for each in (called.operations, operations))
        if said != done:
            raise Refused
        end = None if kind == "info" else time
        found[place] = Transaction(operations, kind, process, called.invoke, end, None)
    return found


def _from_json(text):
    found = []
    lines = [line for line in text.split("\n") if line.strip()]
    if all(line.startswith(";") for line in lines):  # comments of EDN, and nothing else
        return found
    for line in lines:
        record = _record(line)
        if set(record) - {"process", "transaction", "type", "invoke", "return"} or "transaction" not in record:
            raise Refused
        lost = "return" in record and record["return"] is None
        kind, process = record.get("type", "info" if lost else "ok"), record.get("process")
        times = [record.get("invoke"), record.get("return")]
        if kind not in ("ok", "fail", "info") or (lost and kind != "info"):
            raise Refused
        if type(process) not in (int, str, type(None)) or not all(each is None or _is_integer(each) for each in times):
            raise Refused
        end = None if kind == "info" else times[1]
        if times[0] is not None and end is not None and end < times[0]:
            raise Refused
        if not isinstance(record["transaction"], list):
            raise Refused
        operations = tuple(_micro(each) for each in record["transaction"])
        found.append(Transaction(operations, kind, process, times[0], end, None))
    return found


def _micro(value):
    if not isinstance(value, list) or not 2 <= len(value) <= 3 or value[0] not in ("append", "r", "w"):
        raise Refused
    f, key, result = (*value, None)[:3]
    elements = result if f == "r" and isinstance(result, list) else [] if result is None else [result]
    if any(type(each) not in (int, str) for each in (key, *elements)) or (f != "r" and result is None):
        raise Refused
    return f, key, tuple(result) if isinstance(result, list) else result
