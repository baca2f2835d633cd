"""A history of Jepsen in EDN, from bytes to verdict."""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.frontier.kernels.configurations import FrontierArrays
from latchfree_lincheck.engine.logs.events import model_meant, read_events
from latchfree_lincheck.engine.logs.judging import judge_calls
from latchfree_lincheck.engine.logs.lines import UNUSUAL, Bytes
from latchfree_lincheck.engine.logs.tokens import NO_TOKEN
from latchfree_lincheck.engine.logs.told import NAME, TOLD
from latchfree_lincheck.history.timeline import Ints


@kernel
def judge_edn(text: Bytes, told: Ints, given: FrontierArrays, calls: Ints, rows: Rows, work: Ints, model: int) -> int:
    """Judge a history; return OK, VIOLATION or UNUSUAL. See `jsonl.judge_jsonl`."""
    if len(told) != TOLD:
        return UNUSUAL
    count, functions = read_events(text, calls)
    if count == 0:
        return UNUSUAL
    model = model_meant(functions, model)
    if model < 0:
        return UNUSUAL
    told[NAME] = NO_TOKEN
    return judge_calls(text, told, given, calls, count, model, rows, work)
