"""The compiled functions that the Python of the engines calls.

A table of states (`nodes`), of rows or of what snapshots saw has two dimensions; other arrays have one.
"""

from typing import Any, Final

from latchfree.border import (
    BYTES,
    FLAG,
    GIVEN_INTS,
    INT,
    INTS,
    NONE,
    Array,
    Border,
    Call,
    Fields,
)
from latchfree_lincheck.engine import kernels
from latchfree_lincheck.engine.compiled_models import states, texts
from latchfree_lincheck.engine.compiled_models.transition import PartArrays
from latchfree_lincheck.engine.dequeues.kernels import configurations as dequeues
from latchfree_lincheck.engine.dequeues.kernels.advance import advance as advance_dequeues
from latchfree_lincheck.engine.encoding import kernels as encoding
from latchfree_lincheck.engine.frontier.kernels import advance, configurations, lookahead, sweep
from latchfree_lincheck.engine.logs import edn, jsonl
from latchfree_lincheck.engine.logs import register as register_log
from latchfree_lincheck.engine.logs import store as store_log
from latchfree_lincheck.engine.monitors import common, flag, map_key, priority_queue, queue, register, stack
from latchfree_lincheck.engine.product.kernels import advance as product
from latchfree_lincheck.engine.product.kernels import sets
from latchfree_lincheck.engine.wgl.kernels import search
from latchfree_lincheck.history.border import HISTORY
from latchfree_lincheck.native import LINCHECK

_ROWS: Final = Array("int32", dimensions=2)
_GIVEN_ROWS: Final = Array("int32", written=False, dimensions=2)
_TABLE: Final = Array("int64", dimensions=2)
_GIVEN_TABLE: Final = Array("int64", written=False, dimensions=2)
_INTS32: Final = Array("int32")
_FLAGS: Final = Array("bool_")


def _fields(kind: Any, **others: Any) -> Fields:
    """Return a named tuple of arrays of one dimension that are written, but for some fields."""
    return Fields(tuple(others.get(name, INTS) for name in kind._fields), kind)


_STATES: Final = _fields(states.States, nodes=_TABLE)
_STORE: Final = _STATES.kinds
_PART: Final = _fields(
    PartArrays,
    events=GIVEN_INTS, return_=GIVEN_INTS, rows=_ROWS, contents=_GIVEN_TABLE, pieces=GIVEN_INTS,
)  # fmt: skip
_FRONTIER: Final = _fields(
    configurations.FrontierArrays, configurations=_TABLE, kept=_TABLE, log=_TABLE,
)  # fmt: skip
_CALLS: Final = _fields(
    search.CallArrays,
    rows=_GIVEN_ROWS, returns=GIVEN_INTS, invokes=GIVEN_INTS, twins=GIVEN_INTS, pieces=GIVEN_INTS,
)  # fmt: skip
_PATH: Final = _fields(search.PathArrays, stack=_TABLE)
_MEMO: Final = _fields(search.MemoArrays, pool=_INTS32)
_SETS: Final = _fields(sets.Sets, pairs=_TABLE, buffer=_TABLE)
_QUEUE: Final = _fields(
    dequeues.Calls,
    events=GIVEN_INTS, invoke=GIVEN_INTS, return_=GIVEN_INTS, rows=_GIVEN_ROWS, enqueues=GIVEN_INTS, lost=GIVEN_INTS,
)  # fmt: skip
_DEQUEUES: Final = _fields(dequeues.Frontier, configurations=_TABLE, kept=_TABLE, log=_TABLE)

_TEXT: Final = Array("uint8", written=False)

_ENCODING: Final = {
    "number_codes": Call(encoding.number_codes, (GIVEN_INTS, INTS, INTS), INT, nogil=True),
    "number_parts": Call(encoding.number_parts, (GIVEN_INTS, GIVEN_INTS, INTS, INTS, INTS), INT, nogil=True),
    "fill": Call(encoding.fill, (_ROWS, *[GIVEN_INTS] * 7, INT, FLAG), NONE, nogil=True),
    "group": Call(
        encoding.group,
        (GIVEN_INTS, GIVEN_INTS, _GIVEN_ROWS, INTS, INTS, INTS, INTS, INTS, INTS, _ROWS),
        NONE,
        nogil=True,
    ),
}
_STATE_STORE: Final = {
    "rehash_nodes": Call(states.rehash_nodes, _STORE, NONE, nogil=True),
    "build": Call(states.build, (*_STORE, INT, INTS), INT, nogil=True),
    "extend": Call(states.extend, (*_STORE, INT, GIVEN_INTS), INT, nogil=True),
    "fetch": Call(states.fetch, (_GIVEN_TABLE, INT, INT, INT), INT),
    "nest": Call(texts.nest, (_TEXT, GIVEN_INTS, INTS), INT, nogil=True),
    "extend_all": Call(texts.extend_all, (_STATES, _TEXT, GIVEN_INTS, GIVEN_INTS, INTS), NONE, nogil=True),
}
_DEPTH_FIRST: Final = {
    "search": Call(search.search, (INTS, INTS, _CALLS, _PATH, _INTS32, _MEMO, _STATES, INTS, INT), INT, nogil=True),
    "rehash_memo": Call(search.rehash_memo, (INTS, INTS, INTS, _INTS32), NONE, nogil=True),
}
_JUST_IN_TIME: Final = {
    "start": Call(configurations.start, (INTS, INTS, _TABLE, INT, INT), NONE),
    "advance": Call(
        advance.advance, (_FRONTIER, _PART, _STATES, INTS, INTS, INTS, INTS, GIVEN_INTS, INT, INT), INT, nogil=True
    ),
    "advance_parts": Call(
        sweep.advance_parts,
        (INTS, INTS, GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, _FRONTIER, _PART, _STATES, INTS, INTS, _TABLE, INT),
        FLAG,
        nogil=True,
    ),
    "rehash": Call(configurations.rehash, (INTS, _TABLE, INTS), NONE, nogil=True),
    "write_path": Call(configurations.write_path, (_GIVEN_TABLE, INT, INTS, INT), INT, nogil=True),
    "longest": Call(configurations.longest, (_GIVEN_TABLE, INT, _GIVEN_TABLE), INT, nogil=True),
    "last_uses": Call(lookahead.last_uses, (INTS, _GIVEN_TABLE, GIVEN_INTS, GIVEN_INTS, _GIVEN_ROWS), NONE, nogil=True),
}
_KEY_BY_KEY: Final = {
    "number": Call(sets.number, (_SETS, INT), INT),
    "advance_keys": Call(
        product.advance,
        (
            INTS,
            _PART,
            _fields(product.InFlight),
            _fields(product.Branches, ids=_TABLE, marks=_TABLE),
            _SETS,
            _TABLE,
            INTS,
            INT,
        ),
        INT,
        nogil=True,
    ),
}
_BY_DEQUEUES: Final = {
    "advance_dequeues": Call(advance_dequeues, (INTS, _QUEUE, _DEQUEUES, _TABLE, INT), INT, nogil=True),
    "rehash_dequeues": Call(dequeues.rehash, (INTS, _DEQUEUES), NONE, nogil=True),
    "write_dequeues": Call(dequeues.write_path, (_GIVEN_TABLE, INT, _TABLE, INT), INT, nogil=True),
}
_MONITORS: Final = {
    "count_values": Call(common.count_values, (_GIVEN_ROWS,), INT, nogil=True),
    **{
        f"judge_{name}": Call(
            module.judge_parts, (*[GIVEN_INTS] * 5, _GIVEN_ROWS, GIVEN_INTS, INT, INT, INTS, INTS), NONE, nogil=True
        )
        for name, module in (
            ("register", register),
            ("map", map_key),
            ("queue", queue),
            ("stack", stack),
            ("priority_queue", priority_queue),
            ("flag", flag),
        )
    },
    "fold_parts": Call(
        kernels.fold_parts,
        (GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, _GIVEN_TABLE, GIVEN_INTS, GIVEN_INTS, _FLAGS, INTS, INTS, _TABLE),
        NONE,
        nogil=True,
    ),
}

_MEMORY: Final = (_FRONTIER, _TABLE, _ROWS, INTS)
_LOGS: Final = {
    "judge_register_log": Call(register_log.judge_register_log, (_TEXT, INTS, *_MEMORY), INT, nogil=True),
    "judge_jsonl": Call(jsonl.judge_jsonl, (_TEXT, INTS, *_MEMORY, INT), INT, nogil=True),
    "judge_edn": Call(edn.judge_edn, (_TEXT, INTS, *_MEMORY, INT), INT, nogil=True),
    "judge_store_log": Call(store_log.judge_store_log, (_TEXT, INTS, *_MEMORY, _STATES, BYTES), INT, nogil=True),
}

ENGINE: Final = Border(
    __name__,
    {**_ENCODING, **_STATE_STORE, **_DEPTH_FIRST, **_JUST_IN_TIME, **_KEY_BY_KEY, **_BY_DEQUEUES, **_MONITORS, **_LOGS},
    LINCHECK,
)

BORDERS: Final[tuple[Border, ...]] = (HISTORY, ENGINE)
"""All calls of the package, which its library is made of."""
