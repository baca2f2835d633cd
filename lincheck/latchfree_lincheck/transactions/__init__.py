"""Judge the isolation of transactions: dependencies inferred from reads, cycles named, levels ruled out.

>>> from latchfree_lincheck.transactions import Transaction, check_transactions
>>> skew = [
...     Transaction((("r", "x", ()), ("append", "y", 1))),
...     Transaction((("r", "y", ()), ("append", "x", 1))),
... ]
>>> report = check_transactions(skew)
>>> report.verdict, report.names, report.not_levels, report.strongest
('violation', ('G2-item',), ('repeatable-read',), ('strong-snapshot-isolation',))

Kingsbury, Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations", VLDB 2020. Classes of cycles
need networkx (``pip install "latchfree[check]"``). The names are declared in ``__init__.pyi`` and loaded at first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
