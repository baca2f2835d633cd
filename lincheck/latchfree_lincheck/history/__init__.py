"""Histories: operations with their times, as objects or as columns, in an order, and recorded from threads."""

from latchfree_lincheck.history.history import History
from latchfree_lincheck.history.operation import InvalidOperation, Operation

__all__ = ["History", "InvalidOperation", "Operation"]
