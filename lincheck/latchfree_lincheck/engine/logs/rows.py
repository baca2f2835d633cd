"""Calls of tokens as rows of the compiled models, and the parts that they belong to.

The rows are those of `encoding.operations`: equal values have equal numbers, keys and objects tell the parts.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.logs.functions import (
    CODES,
    DONE_RESULT,
    KINDS,
    MAP,
    MODEL_ENDS,
    MODEL_OF,
    MODEL_WORDS,
    NAME_ENDS,
    NAME_WORDS,
    SET,
    TAKES,
    TRUTH,
    VALUE,
)
from latchfree_lincheck.engine.logs.lines import FORM, RESULT, A, B, Bytes, C, D, F, table_for
from latchfree_lincheck.engine.logs.tokens import NO_TOKEN, NULL, is_word, number_of, truth_of
from latchfree_lincheck.history.timeline import Ints


@kernel
def model_of(text: Bytes, token: int) -> int:
    """Return the number of the model that a token names in its quotes, or -1."""
    for model in range(len(MODEL_ENDS) - 1):
        if is_word(text, token, MODEL_WORDS, MODEL_ENDS[model], MODEL_ENDS[model + 1]):
            return model
    return -1


@kernel
def find_functions(text: Bytes, calls: Ints, count: int, model: int) -> bool:
    """Note the function of each call as FORM; return False if the model has none such with so many arguments."""
    for call in range(count):
        found = -1
        for function in range(len(MODEL_OF)):
            if MODEL_OF[function] == model and is_word(
                text, calls[call, F], NAME_WORDS, NAME_ENDS[function], NAME_ENDS[function + 1]
            ):
                found = function
        given = 0
        for column in range(A, C + 1):
            given += calls[call, column] != NO_TOKEN
        if found < 0 or TAKES[found] != given:
            return False
        calls[call, FORM] = found
    return True


@kernel
def number_parts(text: Bytes, calls: Ints, count: int, keyed: bool, part: Ints) -> int:
    """Give the parts numbers by first appearance; return how many there are."""
    names, keys = table_for(count), table_for(count)
    name_tokens, key_tokens = np.empty(count, np.int64), np.empty(count, np.int64)
    pairs, pair_of = table_for(count), np.empty((count, 2), np.int64)
    mask = np.uint64(len(pairs) - 1)
    objects, different, parts = 0, 0, 0
    for call in range(count):
        name, key = -1, -1
        if calls[call, D] != NO_TOKEN:
            name = number_of(text, calls[call, D], names, name_tokens, objects)
            objects = max(objects, name + 1)
        if keyed:
            key = number_of(text, calls[call, A], keys, key_tokens, different)
            different = max(different, key + 1)
        slot = mix(name, key) & mask
        while pairs[slot] != 0 and (pair_of[pairs[slot] - 1, 0] != name or pair_of[pairs[slot] - 1, 1] != key):
            slot = (slot + np.uint64(1)) & mask
        if pairs[slot] == 0:
            pair_of[parts, 0], pair_of[parts, 1] = name, key
            parts += 1
            pairs[slot] = parts
        part[call] = pairs[slot] - 1
    return parts


@kernel
def fill_rows(text: Bytes, calls: Ints, count: int, keyed: bool, rows: Rows, values: Ints) -> int:
    """Write the rows, and the token of each value into `values`; return how many values there are, -1 if unusual."""
    table = table_for(3 * count)
    known = 0
    for call in range(count):
        function = calls[call, FORM]
        rows[call, 0], rows[call, 1], rows[call, 2], rows[call, 3] = CODES[function], 0, ABSENT, ABSENT
        to = 2
        for column in range(B if keyed else A, C + 1):
            if calls[call, column] != NO_TOKEN:
                number = number_of(text, calls[call, column], table, values, known)
                known = max(known, number + 1)
                rows[call, to] = number
                to += 1
        kind, result = KINDS[function], calls[call, RESULT]
        if kind == DONE_RESULT:
            rows[call, 4] = 1
        elif result == NO_TOKEN or kind not in (VALUE, TRUTH):
            rows[call, 4] = UNKNOWN_RESULT
        elif kind == TRUTH:
            said = truth_of(text, result)
            if said < 0:
                return -1
            rows[call, 4] = said
        elif result == NULL:
            rows[call, 4] = ABSENT
        elif result < 0:
            return -1
        else:
            number = number_of(text, result, table, values, known)
            known = max(known, number + 1)
            rows[call, 4] = number
    return known


@kernel
def has_keys(model: int) -> bool:
    """Return whether the first argument of the functions of a model is a key."""
    return model in (MAP, SET)
