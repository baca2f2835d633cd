"""networkx, loaded at first use: a history without anomalies needs it not."""

from __future__ import annotations

from typing import Any


def networkx() -> Any:
    """Return the module networkx.

    Raises
    ------
    ModuleNotFoundError
        If networkx is not installed; the message names the extra that brings it.
    """
    try:
        import networkx
    except ModuleNotFoundError:
        fix = "fix: pip install 'latchfree[check]'"
        raise ModuleNotFoundError(f"anomalies of transactions need networkx; {fix}", name="networkx") from None
    return networkx
