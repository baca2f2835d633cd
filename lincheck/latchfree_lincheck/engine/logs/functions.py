"""The models and functions that have usual records, as numbers; what a call of each is as a row.

Example: the register's ``write`` is the function 1 of the model 0, its row is a PUT, and its result is not looked at.
The forms are those of `encoding.forms`, which loads the models; a test compares the two.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree_lincheck.engine.compiled_models.opcodes import (
    CONTAINS,
    DELETE,
    ENQUEUE,
    GET,
    INSERT,
    PUSH,
    PUT,
    PUT_IF_ABSENT,
    REMOVE,
    REMOVE_IF,
    REPLACE,
    REPLACE_IF,
    TAKE,
)
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
    Function(REGISTER, "read", GET, VALUE, 0),
    Function(REGISTER, "write", PUT, UNSEEN_RESULT, 1),
    Function(CAS_REGISTER, "read", GET, VALUE, 0),
    Function(CAS_REGISTER, "write", PUT, UNSEEN_RESULT, 1),
    Function(CAS_REGISTER, "cas", REPLACE_IF, TRUTH, 2),
    Function(MAP, "get", GET, VALUE, 1),
    Function(MAP, "put", PUT, VALUE, 2),
    Function(MAP, "remove", REMOVE, VALUE, 1),
    Function(MAP, "put_if_absent", PUT_IF_ABSENT, VALUE, 2),
    Function(MAP, "replace", REPLACE, VALUE, 2),
    Function(MAP, "replace_if", REPLACE_IF, TRUTH, 3),
    Function(MAP, "remove_if", REMOVE_IF, TRUTH, 2),
    Function(MAP, "contains", CONTAINS, TRUTH, 1),
    Function(SET, "add", INSERT, TRUTH, 1),
    Function(SET, "remove", DELETE, TRUTH, 1),
    Function(SET, "contains", CONTAINS, TRUTH, 1),
    Function(MUTEX, "acquire", INSERT, DONE_RESULT, 0),
    Function(MUTEX, "release", DELETE, DONE_RESULT, 0),
    Function(MUTEX, "try_acquire", INSERT, TRUTH, 0),
    Function(QUEUE, "enqueue", ENQUEUE, UNSEEN_RESULT, 1),
    Function(QUEUE, "dequeue", TAKE, VALUE, 0),
    Function(STACK, "push", PUSH, UNSEEN_RESULT, 1),
    Function(STACK, "pop", TAKE, VALUE, 0),
)

MODEL_WORDS, MODEL_ENDS = words(MODELS)
NAME_WORDS, NAME_ENDS = words([function.name for function in FUNCTIONS])
MODEL_OF: Final = np.array([function.model for function in FUNCTIONS], np.int64)
CODES: Final = np.array([function.code for function in FUNCTIONS], np.int64)
KINDS: Final = np.array([function.kind for function in FUNCTIONS], np.int64)
TAKES: Final = np.array([function.takes for function in FUNCTIONS], np.int64)
