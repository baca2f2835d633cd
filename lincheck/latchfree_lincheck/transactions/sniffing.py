"""Tell a file of transactions from other histories by how it begins; nothing heavy is imported for that."""

from __future__ import annotations

import json
import re
from typing import Final

_EDN: Final = re.compile(r":f\s+:txn\b|:value\s+\[\s*\[\s*:(?:append|r|w)\s")


def holds_transactions(start: str) -> bool:
    """Return whether a file that starts so is a history of transactions, in EDN or in JSON Lines.

    >>> holds_transactions('{"transaction": [["append", "x", 1]]}'), holds_transactions("{:type :ok, :f :read}")
    (True, False)
    """
    start = start.lstrip("\ufeff \t\r\n")
    if not start.startswith('{"'):
        return bool(_EDN.search(start))
    try:
        record = json.loads(start.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return '"transaction"' in start and '"arguments"' not in start
    return isinstance(record, dict) and "transaction" in record
