"""From a history to parts: by columns where the history has fit columns, else operation by operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.encoding.columns import doubtful, encode_columns, unfit
from latchfree_lincheck.engine.encoding.forms import Encoded, NotEncodable, family
from latchfree_lincheck.engine.encoding.operations import encode_operations
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.engine.encoding.strings import encode_strings
from latchfree_lincheck.engine.encoding.words import encode_words
from latchfree_lincheck.history import History
from latchfree_model import CompiledModel, Model, SequentialModel


def encodable(model: Model[Any]) -> bool:
    """Return whether histories of a model can be rows: it is built in, or compiled."""
    return bool(family(model)) or isinstance(model, CompiledModel)


def encode(model: Model[Any], history: History, deadline: Deadline) -> tuple[Parts, Meaning]:
    """Turn a history into parts, and return the meaning of their rows.

    Raises
    ------
    ValueError
        If the model cannot make sense of a call.
    NotEncodable
        If the model is not built in, a counter may exceed 31 bits, or the items of a priority queue have no order.
    Expired
        If the deadline passes.
    NotThere
        If there is no time to compile what is needed.
    """
    if not encodable(model):
        raise NotEncodable(f"the model {model.name!r} is not built in")
    deadline.require("group")
    if isinstance(model, CompiledModel):
        encoded = encode_words(model, history, deadline)
    else:
        encoded = _rows(model, history, deadline)
    return Parts.of(encoded.part, history.events(), encoded.rows, len(encoded.meaning.first)), encoded.meaning


def _rows(model: Model[Any], history: History, deadline: Deadline) -> Encoded:
    assert isinstance(model, SequentialModel)
    if family(model) == "append-kv":
        return encode_strings(model, history.operations, deadline)
    columns, whole = history.columns, np.array([0, len(history)])
    if columns is None or len(history) == 0 or unfit(model, columns, whole)[0]:
        return encode_operations(model, history.operations, deadline)
    for row in np.flatnonzero(doubtful(columns)).tolist():
        model.validate(history.operation(row).call)
    deadline.require("fill")
    encoded, _ = encode_columns(model, columns, whole)
    return encoded
