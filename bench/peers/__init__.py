"""The maps under comparison, one module each.

A module defines ``TITLE``, ``version()`` and either ``subject(plan)``, which makes a fresh map for `workload` to
drive, or ``rows(settings)``, which measures in a process of its own. Importing a module raises ImportError where
its package is missing, and `Unavailable` where something else is.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Name on the command line -> module. The first is what the others are compared with.
PEERS = {
    "latchfree": "peers.latchfree_ctrie",
    "dict": "peers.builtin_dict",
    "dict+lock": "peers.locked_dict",
    "immutables": "peers.immutables_map",
    "cereggii": "peers.cereggii_dict",
    "lmdb": "peers.lmdb_env",
    "triemap": "peers.scala_triemap",
}


class Unavailable(Exception):
    """A peer cannot run here; the message says what is missing and how to get it."""


def load(name: str) -> Any:
    """Return the module of a peer.

    Raises
    ------
    Unavailable
        If its package is not installed.
    """
    try:
        return importlib.import_module(PEERS[name])
    except ImportError as error:
        raise Unavailable(f"{error}; pip install 'latchfree[bench]'") from None
