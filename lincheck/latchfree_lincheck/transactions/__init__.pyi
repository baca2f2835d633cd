"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .anomaly import Anomaly
from .check import check_transactions
from .edges import Edge
from .levels import LEVELS
from .reading import read_transactions
from .report import TransactionReport
from .transaction import Transaction

__all__ = [
    "LEVELS",
    "Anomaly",
    "Edge",
    "Transaction",
    "TransactionReport",
    "check_transactions",
    "read_transactions",
]
