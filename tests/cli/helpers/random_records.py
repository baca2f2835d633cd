"""Random histories as JSON Lines and as Jepsen's EDN, written in many ways, and what damages them."""

import json
import re

from lincheck_random import random_history
from random_logs import damaged

from latchfree_model import UNKNOWN

MODELS = ("register", "cas-register", "map", "set", "mutex", "queue", "stack")
EDN_MODELS = ("register", "cas-register", "mutex", "queue", "stack")

VALUES = [
    lambda each: each,
    lambda each: f"v {each}",
    lambda each: each - 1,
    lambda each: f"it's {each}",
    lambda each: f"[{each}]: {{}}",
    lambda each: each + 10**17,
]
"""Ways to write a value that is a small number; equal ones stay equal, others different."""
ODD = [
    lambda each: each * 10**18,
    lambda each: float(each),
    lambda each: [1, True, 1.0, "1"][each % 4],
    lambda each: [each],
    lambda each: {"a": each},
    lambda each: f"{each}é",
    lambda each: f"{each}\ud800",
    lambda each: f"{each}\0",
    lambda each: f"{each}\\",
    lambda each: (-1) ** each * (2**64 + each),
]


def record_text(rng, model, calls, odd=0.1):
    """Return the text of a random history, and whether its lines name the model."""
    operations = list(random_history(model, rng.randrange(10**9), calls).operations)
    write = rng.choice(ODD if rng.random() < odd else VALUES)
    process = rng.choice([lambda each: each, lambda each: f"p{each}", lambda each: each + 10**17])
    stretch, shift = rng.choice([1, 1, 7, 10**9]), rng.choice([0, 0, 5, 10**15])
    named, hint = rng.random() < 0.8, rng.random() < 0.7
    names = rng.choice([[None], [None], ["a"], ["a", "b"], ["a", None, "x y"]])
    order, truth = rng.random() < 0.2, rng.choice([bool, bool, int])
    separators = rng.choice([(", ", ": "), (",", ":"), (" ,  ", " : ")])
    lines = []
    for each in operations:
        record = {"history": "h one"} if named else {}
        record |= {
            "process": process(each.process),
            "f": each.f,
            "arguments": [_written(value, write) for value in each.arguments],
        }
        if each.result is not UNKNOWN:
            record["result"] = truth(each.result) if isinstance(each.result, bool) else _written(each.result, write)
        record["invoke"] = each.invoke * stretch + shift
        record["return"] = None if each.return_ is None else each.return_ * stretch + shift
        name = names[each.process % len(names)] if isinstance(each.process, int) else None
        if name is not None or rng.random() < 0.1:
            record["object"] = name
        if hint or rng.random() < 0.05:
            record["model"] = model
        if order:
            fields = list(record.items())
            rng.shuffle(fields)
            record = dict(fields)
        lines.append(json.dumps(record, ensure_ascii=False, separators=separators) + "\n")
    return "".join(lines), hint


def _written(value, write):
    if type(value) is int:
        return write(value)
    return [_written(each, write) for each in value] if isinstance(value, tuple | list) else value


def event_text(rng, model, calls, odd=0.1):
    """Return a random history as Jepsen writes it in EDN."""
    operations = random_history(model, rng.randrange(10**9), calls).operations
    write = rng.choice(ODD[2:4] if rng.random() < odd else VALUES[:4])
    events = []
    for each in operations:
        if each.f == "try_acquire":
            continue
        given = [_written(value, write) for value in each.arguments]
        value = given if len(given) == 2 else given[0] if given else None
        events.append((each.invoke, 0, each.process, "invoke", each.f, value))
        if each.return_ is None:
            if rng.random() < 0.7:
                events.append((each.invoke + 1, 1, each.process, "info", each.f, value))
        elif each.f in ("read", "dequeue", "pop"):
            read = None if each.result is UNKNOWN else _written(each.result, write)
            kind = rng.choice(["ok", "ok", "ok", "ok", "fail"])
            events.append((each.return_, 1, each.process, kind, each.f, read))
        else:
            kind = "fail" if each.result is False else rng.choice(["ok"] * 9 + ["fail"])
            events.append((each.return_, 1, each.process, kind, each.f, rng.choice([value, value, None])))
    if rng.random() < 0.5:
        events.append((rng.randrange(10), 0, ":nemesis", "info", "start", rng.choice(FAULTS)))
    events.sort(key=lambda event: event[:2])
    index, time, error = rng.random() < 0.6, rng.random() < 0.5, rng.random() < 0.2
    gap = rng.choice([", ", ", ", " "])
    order = list(range(4))
    if rng.random() < 0.5:
        rng.shuffle(order)
    lines = []
    for number, (when, _, process, kind, f, value) in enumerate(events):
        fields = [f":process {process}", f":type :{kind}", f":f :{f}", f":value {_edn(value)}"]
        fields = [fields[place] for place in order]
        fields += [f":time {when * 1000}"] if time else []
        fields += [f":error {rng.choice(ERRORS)}"] if error and kind == "info" else []
        fields += [f":index {number}"] if index else []
        lines.append("{" + gap.join(fields) + "}\n")
    return "".join(lines)


ERRORS = [":timeout", '"no"', "[:http 500]", "{:a 1}", "{:code 1, :code 2}"]
FAULTS = [
    None, "n1", 3, ":majority", ":[:isolated {n1 #{n2 n3}, n2 #{n1}}]", ":{n1 :killed, n2 nil}", ":[[1 2] [3 [4]]]",
    ":#{n1 n1}", ":{n1 1 n1 2}", ":{n1 1 n2}", ":#{n1 #{n2}}", ":[n1 {n1 n1}]", ":[:r n1]", ":[[:r 1]]", ":{1 2, 2 1}",
    ":{:process 1, :f :start}", ":[n1 n2", ":[n1}", ":[1x]", ":[]", ":{}", ":{:a 1 :a 2}", ":[:a:b]",
    ":[[[[[[[1]]]]]]]", ":[:append]", ":{:bb 1 :bb 2}", ":{:bb 1 :cc 1}", ":#{1 true}", ":#{nil nil}", ":[[:append 1]]",
]  # fmt: skip
"""Values of the nemesis: those that begin with a colon as they are, or behind it, where n1, n2 and n3 are texts."""


def _edn(value):
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, str) and value.startswith(":"):
        return re.sub(r"\b(n\d)\b", r'"\1"', value[1:]) if value[1] in "[{#" else value
    if isinstance(value, list):
        return f"[{' '.join(map(_edn, value))}]"
    return json.dumps(value, ensure_ascii=False)


def damaged_records(rng, text):
    """Return a text with something else at one or two places."""
    for _ in range(rng.choice([1, 1, 2])):
        if rng.random() < 0.5:
            text = damaged(rng, text)
            continue
        old, new = rng.choice(EXCHANGED)
        places = [place for place in range(len(text)) if text.startswith(old, place)]
        if places:
            place = rng.choice(places)
            text = text[:place] + new + text[place + len(old) :]
    return text


EXCHANGED = [
    ("1", "1.0"), ("1", "true"), ("1", "1e0"), ("1", "01"), ("1", "-1"), ("0", "-0"), ("1", "1" * 19), ("1", "1" * 18),
    ("1", "99999999999999999999999999"), ("1", '"1"'), ("1", "[1]"), ("1", '{"a": 1}'), ("1", "[[1]]"), ("1", "NaN"),
    ("1", "1N"), ("1", "+1"), ("1", '"\\u0031"'), ("1", '"\\ud800"'), ("1", '"\\u0000"'), ("1", "null"),
    ("1", "nil"), ("null", "0"), ("null", '"None"'), ("null", "true"), ("null", "[]"), ("true", "1"), ("true", "1.0"),
    ("true", "null"), ("false", "0"), ("false", '""'), ("[]", "[null]"), ("[]", "[ ]"), ("[]", "[1, 2, 3, 4]"),
    ('"result"', '"results"'), ('"history"', '"object"'), ('"object"', '"history"'), ('"invoke"', '"return"'),
    ('"process"', '"f"'), ('"model"', '"Model"'), ('"register"', '"cas-register"'), ('"map"', '"set"'),
    ('"model"', '"model": null, "model"'), ('"process"', '"process": 1, "process"'), ('"f"', '"object": null, "f"'),
    ('"f"', '"\\u0066"'), ('"f"', '"transaction"'), ("{", "{ "), ("}", " }"), ("}", "},"), ("}\n", "}"),
    ("}\n", "}\n\n"), ("}\n", "}\r\n"), ("{", "\ufeff{"), ("\n", " \n"), (", ", ",\t"), ('"h one"', '"h two"'),
    ('"h one"', '""'), ('"h one"', '"h:one"'), ('"h one"', "null"), ('"h one"', '"stem"'), ('"a"', '""'),
    (":invoke", ":ok"), (":ok", ":fail"), (":ok", ":info"), (":read", ":write"), (":index", ":time"),
    (":index 1", ":index -1"), (":time", ":key"), (":type", ":kind"), (":nemesis", ":other"), ("[1 2]", "[1 2 3]"),
    ("nil", ":timed-out"), ("nil", "1"), (":f :read", ":f :txn"), (":value", ":value #jepsen.independent/tuple"),
    (":value nil", ""), (":f :write", ":f write"), (":process 1", ":process 1.0"), (":error", ":key"),
    (":timeout", ":key "), ("{:", "{ :"), ("{:", "[{:"), ("{:", "#{:"), ("nil", '"a:b"'), ("nil", '":key "'),
    (":process 1", ':process "1"'), (":read", ":cas"),
]  # fmt: skip
