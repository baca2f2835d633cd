"""Strings as states: each goes on from the longest other one that it begins with."""

import random
from itertools import accumulate

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, GET, PUT
from latchfree_lincheck.engine.store import Store


def test_each_string_is_nested_in_the_longest_one_that_it_begins_with():
    rng, nested = random.Random(7), 0
    for _ in range(500):
        some = {bytes(rng.choices(b"ab", k=rng.randint(1, 6))) for _ in range(rng.randint(1, 12))}
        texts = sorted(some)
        bounds = np.array([0, *accumulate(map(len, texts))], np.int64)
        befores = np.full(len(texts), 99, np.int64)
        left = ENGINE.nest(b"".join(texts), bounds, befores)
        expected = [
            max(
                (i for i, other in enumerate(texts[:at]) if text.startswith(other)),
                key=lambda i: len(texts[i]),
                default=-1,
            )
            for at, text in enumerate(texts)
        ]
        assert befores.tolist() == expected, texts
        assert left == sum(
            len(text) - (len(texts[before]) if before >= 0 else 0) for text, before in zip(texts, expected, strict=True)
        )
        nested += sum(before >= 0 for before in expected)
    assert nested > 500


def test_rows_get_the_state_of_their_string():
    """A state is a chain of bytes, the last on top; equal strings are one state, and so are equal beginnings."""
    store = Store(1 << 24, Deadline(None))
    texts = [b"ab", b"a", b"b" * 40, b"abc", b"ba"]
    rows = np.array([[PUT, 0, 0, ABSENT, ABSENT], *[[GET, 0, ABSENT, ABSENT, i] for i in range(5)]], np.int32)
    store.number_texts(rows, texts)

    def spelled(state):
        text = []
        while state != ABSENT:
            state, byte = store.nodes[state].tolist()
            text.append(byte)
        return bytes(text[::-1])

    assert [spelled(state) for state in rows[1:, 4].tolist()] == texts
    assert rows[0, 2] == rows[1, 4]
    assert store.size[0] == 3 + 40 + 1, "each beginning is there once"
