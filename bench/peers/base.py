"""What a peer hands to the workload: a fresh map and its loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Call = Literal["single", "bulk"]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """One map's part in a run.

    Attributes
    ----------
    call : "single" or "bulk"
        One key a call, in a Python loop; or whole batches, as compiled code takes them.
    keys, threads : int
    writes : int
        Upper bound of the put, update and remove operations it will see.
    snapshots : int
        Upper bound of the snapshots that a put will follow.
    cold : bool
        Leave memory untouched before timing.
    """

    call: Call
    keys: int
    threads: int
    writes: int
    snapshots: int
    cold: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A fresh, empty map.

    Attributes
    ----------
    put, get, remove : callable
        Loops over keys (and values), converted by `convert` beforehand.
    count : callable
        Iterates over all entries and returns how many there are.
    snapshots : callable, optional
        Takes that many snapshots, each dropped at once.
    snapshots_and_puts : callable, optional
        For each key: takes a snapshot, then writes the key.
    extra : dict
        Further snapshot loops by operation name.
    convert : callable
        Keys or values as the loops take them.
    close : callable
    copies : bool
        A snapshot is a copy of everything.
    mix : callable, optional
        One loop over keys and values, as `convert` gives them: it reads the keys whose value is None, and puts the
        others. For single calls only.
    look : callable, optional
        The values of keys, both of them plain numbers; None where a key is absent.
    """

    put: Callable[[Any, Any], object]
    get: Callable[[Any], object]
    remove: Callable[[Any], object]
    count: Callable[[], int]
    snapshots: Callable[[int], object] | None = None
    snapshots_and_puts: Callable[[Any, Any], object] | None = None
    extra: dict[str, Callable[[int], object]] = field(default_factory=dict)
    convert: Callable[[Ints], Any] = lambda ints: ints.tolist()
    close: Callable[[], object] = lambda: None
    copies: bool = False
    mix: Callable[[Any, Any], object] | None = None
    look: Callable[[list[int]], list[int | None]] | None = None
