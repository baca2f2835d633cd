"""Transactions in a few signs, for tests.

``x+1`` appends 1 to x, ``x?1,2`` reads x = [1 2], ``x?`` reads it as empty; of registers ``x=1`` writes and ``y?1``
reads, and ``y?-`` reads the initial state. Before them may stand the process and the times: ``3@0-5`` is process 3 from
0 to 5, ``3@0-`` a call whose outcome is unknown, and ``!`` an aborted transaction, ``?`` one of unknown outcome.
"""

import re

from latchfree_lincheck.transactions import Transaction

HEAD = re.compile(r"(?:(?P<process>\d+)?(?:@(?P<invoke>\d+)-(?P<return_>\d+)?)?)(?P<ending>[!?])?")
OPERATION = re.compile(r"([a-z]\w*)([+=?])(.*)")


def transaction(text, registers=False):
    """Return the transaction of a text."""
    head, *rest = text.split()
    found = HEAD.fullmatch(head)
    if not found:
        head, rest, found = "", [head, *rest], HEAD.fullmatch("")
    process, invoke, return_ = (
        None if part is None else int(part) for part in found.group("process", "invoke", "return_")
    )
    ending = {"!": "fail", "?": "info", None: "ok"}[found["ending"]]
    if invoke is not None and return_ is None:
        ending = "info"
    return Transaction(tuple(operation(each, registers) for each in rest), ending, process, invoke, return_)


def operation(text, registers):
    key, sign, value = OPERATION.fullmatch(text).groups()
    if sign == "?" and not registers:
        return "r", key, tuple(map(int, filter(None, value.split(","))))
    number = None if value == "-" else int(value)
    return {"+": "append", "=": "w", "?": "r"}[sign], key, number


def lists(*texts):
    """Return a list-append history."""
    return [transaction(text) for text in texts]


def registers(*texts):
    """Return a history of registers."""
    return [transaction(text, registers=True) for text in texts]
