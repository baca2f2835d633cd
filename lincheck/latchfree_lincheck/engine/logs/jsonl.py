"""A file of JSON Lines, from bytes to verdict."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.frontier.kernels.configurations import FrontierArrays
from latchfree_lincheck.engine.logs.judging import judge_calls
from latchfree_lincheck.engine.logs.lines import UNUSUAL, Bytes
from latchfree_lincheck.engine.logs.records import HISTORY, read_records
from latchfree_lincheck.engine.logs.records import MODEL as SAID
from latchfree_lincheck.engine.logs.rows import model_of
from latchfree_lincheck.engine.logs.tokens import inside
from latchfree_lincheck.engine.logs.told import NAME, TOLD
from latchfree_lincheck.history.timeline import Ints


@kernel
def judge_jsonl(text: Bytes, told: Ints, given: FrontierArrays, calls: Ints, rows: Rows, work: Ints, model: int) -> int:
    """Judge the one history of a file; return OK, VIOLATION or UNUSUAL.

    Parameters
    ----------
    text : uint8[n]
        The file.
    told : int64[TOLD]
        Receives what is told.
    given, calls, rows, work : FrontierArrays, int64[m, COLUMNS], int32[2 * m, 5] and int64[5 * m + 8]
        Memory, for files of up to m operations.
    model : int
        The number of the model that was asked for, or -1: then the lines name it.
    """
    named = np.empty(2, np.int64)
    if len(told) != TOLD:
        return UNUSUAL
    count = read_records(text, calls, named, model >= 0)
    if model < 0 and count > 0 and named[SAID] >= 0:
        model = model_of(text, inside(named[SAID]))
    if model < 0 or count == 0:
        return UNUSUAL
    told[NAME] = named[HISTORY]
    return judge_calls(text, told, given, calls, count, model, rows, work)
