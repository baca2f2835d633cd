"""The models and functions that have usual records, as numbers; what a call of each is as a row.

Example: the register's ``write`` is the function 1 of the model 0, its row is a PUT, and its result is not looked at.
The forms are those of `encoding.forms`, which loads the models; a test compares the two.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.logs.tokens import words

# The models.
REGISTER: Final = 0
CAS_REGISTER: Final = 1
MAP: Final = 2
SET: Final = 3
MUTEX: Final = 4
QUEUE: Final = 5
STACK: Final = 6
MODELS: Final = ("register", "cas-register", "map", "set", "mutex", "queue", "stack")

# How a result is read.
VALUE: Final = 0
TRUTH: Final = 1
UNSEEN_RESULT: Final = 2
DONE_RESULT: Final = 3


class Function(NamedTuple):
    """A function: of which model, its name, its opcode, how its result is read, and how many arguments it takes."""

    model: int
    name: str
    code: int
    kind: int
    takes: int


FUNCTIONS: Final = (
    Function(REGISTER, "read", op.GET, VALUE, 0),
    Function(REGISTER, "write", op.PUT, UNSEEN_RESULT, 1),
    Function(CAS_REGISTER, "read", op.GET, VALUE, 0),
    Function(CAS_REGISTER, "write", op.PUT, UNSEEN_RESULT, 1),
    Function(CAS_REGISTER, "cas", op.REPLACE_IF, TRUTH, 2),
    Function(MAP, "get", op.GET, VALUE, 1),
    Function(MAP, "put", op.PUT, VALUE, 2),
    Function(MAP, "remove", op.REMOVE, VALUE, 1),
    Function(MAP, "put_if_absent", op.PUT_IF_ABSENT, VALUE, 2),
    Function(MAP, "replace", op.REPLACE, VALUE, 2),
    Function(MAP, "replace_if", op.REPLACE_IF, TRUTH, 3),
    Function(MAP, "remove_if", op.REMOVE_IF, TRUTH, 2),
    Function(MAP, "contains", op.CONTAINS, TRUTH, 1),
    Function(SET, "add", op.INSERT, TRUTH, 1),
    Function(SET, "remove", op.DELETE, TRUTH, 1),
    Function(SET, "contains", op.CONTAINS, TRUTH, 1),
    Function(MUTEX, "acquire", op.INSERT, DONE_RESULT, 0),
    Function(MUTEX, "release", op.DELETE, DONE_RESULT, 0),
    Function(MUTEX, "try_acquire", op.INSERT, TRUTH, 0),
    Function(QUEUE, "enqueue", op.ENQUEUE, UNSEEN_RESULT, 1),
    Function(QUEUE, "dequeue", op.TAKE, VALUE, 0),
    Function(STACK, "push", op.PUSH, UNSEEN_RESULT, 1),
    Function(STACK, "pop", op.TAKE, VALUE, 0),
)

MODEL_WORDS, MODEL_ENDS = words(MODELS)
NAME_WORDS, NAME_ENDS = words([function.name for function in FUNCTIONS])
MODEL_OF: Final = np.array([function.model for function in FUNCTIONS], np.int64)
CODES: Final = np.array([function.code for function in FUNCTIONS], np.int64)
KINDS: Final = np.array([function.kind for function in FUNCTIONS], np.int64)
TAKES: Final = np.array([function.takes for function in FUNCTIONS], np.int64)
