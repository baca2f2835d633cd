"""The rows of `lincheck_bulk` as calls of the models, for the engines in plain Python."""

from lincheck_bulk import KINDS, LETTERS, WIDE

from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_model import UNKNOWN, Call, get_model

_TRUTHS = {op.REPLACE_IF, op.REMOVE_IF, op.CONTAINS, op.INSERT, op.DELETE}
_KEYED = {"map", "set", "append-kv"}
_NAMES = {
    "map": dict(enumerate(op.NAMES)),
    "register": {op.GET: "read", op.PUT: "write"},
    "cas-register": {op.GET: "read", op.PUT: "write", op.REPLACE_IF: "cas"},
    "append-kv": {op.GET: "get", op.PUT: "put", op.APPEND: "append"},
    "set": {op.INSERT: "add", op.DELETE: "remove", op.CONTAINS: "contains"},
    "counter": {op.ADD: "add", op.GET: "read"},
    "queue": {op.ENQUEUE: "enqueue", op.TAKE: "dequeue"},
    "bounded-queue": {op.ENQUEUE: "enqueue", op.TAKE: "dequeue"},
    "stack": {op.PUSH: "push", op.TAKE: "pop"},
    "priority-queue": {op.OFFER: "insert", op.TAKE: "pop_min"},
}


def model_and_calls(name, bulk, part, rows):
    """Return the model of a kind, and rows of one part as its calls. A mutex that may be tried is a set of one."""
    family = KINDS[name][0] if KINDS[name][0] != "mutex" else "set"
    model = get_model("bounded-queue:2" if family == "bounded-queue" else family)
    texts = ["", *(text.decode() for text in bulk.meaning.texts.get(part, ()))]
    return model, [_call(family, bulk, texts, *row) for row in rows]


def _call(family, bulk, texts, code, key, a, b, result, _, returned):
    f = _NAMES[family][code]
    if family == "counter":
        arguments = (a,) if code == op.ADD else ()
    elif family == "append-kv":
        arguments = {"get": (), "put": (texts[a + 1],), "append": (LETTERS[a : a + b].decode(),)}.get(f)
    elif code in (op.PUT, op.PUT_IF_ABSENT, op.REPLACE, op.REMOVE_IF, op.PUSH, op.ENQUEUE, op.OFFER):
        arguments = (a,)
    else:
        arguments = (a, b) if code == op.REPLACE_IF else ()
    if family in _KEYED and code not in (op.SNAPSHOT, op.SIZE, op.CLEAR):
        arguments = (key, *arguments)
    if result == op.UNKNOWN_RESULT or returned < 0:
        return Call(f, arguments, UNKNOWN)
    if family == "append-kv":
        return Call(f, arguments, texts[result + 1])
    if code in _TRUTHS or code == op.ENQUEUE:
        return Call(f, arguments, bool(result))
    if code == op.SNAPSHOT:
        held = [(k, result // WIDE**k % WIDE - 1) for k in range(bulk.keys)]
        return Call(f, arguments, tuple(pair for pair in held if pair[1] >= 0))
    absent = result == op.ABSENT and code != op.SIZE and family != "counter"
    return Call(f, arguments, None if absent else result)
