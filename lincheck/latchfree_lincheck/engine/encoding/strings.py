"""From operations on a store of strings, one by one, to rows of integers.

Example: ``append("k", "x")`` is a row that names one byte of all that was appended; ``get("k") -> "x"`` is a row with
the number that the string "x" has in the part of "k". Each key of each object is a part. A string that is put or read
has a number in its part; "" is ABSENT, as a key that was never written holds it.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, Expired
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, APPEND, GET, IMPOSSIBLE, PUT, UNKNOWN_RESULT
from latchfree_lincheck.engine.encoding.forms import Encoded
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history import Operation
from latchfree_model import UNKNOWN, SequentialModel
from latchfree_model.models.values import PLAIN, canonical

_LOOK_AT_CLOCK: Final = 1024


def encode_strings(model: SequentialModel[Any], operations: Sequence[Operation], deadline: Deadline) -> Encoded:
    """Turn the operations of one history of the model append-kv into rows; see `encode.encode` for what is raised."""
    parts: dict[tuple[str | None, Hashable], int] = {}
    texts: list[dict[str, int]] = []
    part, codes, first, second, results = (array("i") for _ in range(5))
    pieces, length, takes = list[bytes](), 0, dict(model.operations)
    for at, each in enumerate(operations):
        if at % _LOOK_AT_CLOCK == 0 and deadline.passed():
            raise Expired
        f, arguments = each.f, each.arguments
        if takes.get(f) != len(arguments) or None in arguments:
            model.validate(each.call)
        key = arguments[0]
        mine = parts.setdefault((each.object, key if type(key) in PLAIN else canonical(key)), len(texts))
        if mine == len(texts):
            texts.append({})
        part.append(mine)
        code, a, b, result = GET, ABSENT, ABSENT, UNKNOWN_RESULT
        text: Any = each.result if f == "get" else arguments[1]
        if type(text) is not str:
            if isinstance(text, str):
                text = str.__str__(text)
            elif f != "get":
                model.step(model.init(), each.call)  # says what it takes
        if f == "append":
            code, piece = APPEND, text.encode("utf-8", "surrogatepass")
            a, b = length, len(piece)
            length += b
            pieces.append(piece)
        elif f == "put":
            code, a = PUT, texts[mine].setdefault(text, len(texts[mine])) if text else ABSENT
        elif type(text) is str:
            result = texts[mine].setdefault(text, len(texts[mine])) if text else ABSENT
        elif text is not UNKNOWN:
            result = IMPOSSIBLE
        codes.append(code)
        first.append(a)
        second.append(b)
        results.append(result)
    columns = codes, array("i", bytes(4 * len(codes))), first, second, results
    meaning = Meaning(
        model.name,
        "text",
        np.full(len(texts), ABSENT, np.int64),
        pieces=np.frombuffer(b"".join(pieces), np.uint8).astype(np.int64),
        texts={at: tuple([text.encode("utf-8", "surrogatepass") for text in held]) for at, held in enumerate(texts)},
    )
    rows = np.array(columns, np.int32).T.copy()
    return Encoded(rows, np.array(part, np.int64), meaning)
