"""Faults: what is done to servers, connections and clients while operations run, and how it is undone.

`pause(server)` stops a server's processes at its beginning and lets them go on at its end. A fault always has both:
`SharedRecorder.fault` and the runner end each fault that they began, also after an exception or Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from latchfree_lincheck.record.proxy import Proxy

Trigger: TypeAlias = float | Mapping[str, int] | Sequence[float | Mapping[str, int]]
"""When: so many seconds later, when so many more operations have returned, or one of these after the other."""


class Stoppable(Protocol):
    """A server, or a client of a run that is a process."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def start(self) -> None:
        """Start what is not running."""

    def stop(self) -> None:
        """End politely."""

    def kill(self) -> None:
        """End with SIGKILL."""

    def pause(self) -> None:
        """Stop with SIGSTOP."""

    def resume(self) -> None:
        """Go on with SIGCONT."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What to do, and what undoes it.

    Parameters
    ----------
    name : str
        What reports call it.
    begin, end : callable
        Called without arguments. `end` is called even if `begin` raised.
    """

    name: str
    begin: Callable[[], None]
    end: Callable[[], None]

    def window(self, begin: Trigger, end: Trigger) -> Window:
        """Say when in a run the fault begins and ends.

        Parameters
        ----------
        begin : float, mapping or sequence
            ``1.5``: 1.5 seconds after the end of the fault before, or after the start of the run. ``{"write": 20}``:
            when 20 more writes have returned. ``[{"write": 5}, {"read": 5}]``: 5 writes, then 5 reads.
        end : float, mapping or sequence
            The same, counted from the beginning of the fault.

        Raises
        ------
        ValueError
            If a time or a count is negative.
        """
        for each in (*_steps(begin), *_steps(end)):
            if min(each.values(), default=0) < 0 if isinstance(each, Mapping) else each < 0:
                raise ValueError(f"{self.name}: {each!r} lies in the past; give seconds or counts from 0 on")
        return Window(self, _steps(begin), _steps(end))


@dataclass(frozen=True, slots=True)
class Window:
    """A fault with the steps that lead to its beginning and to its end; see `Fault.window`."""

    fault: Fault
    begin: tuple[float | Mapping[str, int], ...]
    end: tuple[float | Mapping[str, int], ...]


def kill(server: Stoppable) -> Fault:
    """Kill with SIGKILL, then start again."""
    return Fault(f"kill -9 {server.name}", server.kill, server.start)


def restart(server: Stoppable) -> Fault:
    """Stop politely, then start again."""
    return Fault(f"restart {server.name}", server.stop, server.start)


def pause(server: Stoppable) -> Fault:
    """Stop with SIGSTOP, go on with SIGCONT."""
    return Fault(f"pause {server.name}", server.pause, server.resume)


def hold(proxy: Proxy) -> Fault:
    """Keep back every byte, then deliver all of them."""
    return Fault(f"hold {proxy.name}", proxy.hold, proxy.release)


def delay(proxy: Proxy, seconds: float) -> Fault:
    """Deliver each byte so many seconds later."""
    return Fault(f"delay {proxy.name} by {seconds:g} s", lambda: proxy.delay(seconds), lambda: proxy.delay(0))


def cut(proxy: Proxy) -> Fault:
    """Reset all connections and refuse new ones, then take connections again."""
    return Fault(f"cut {proxy.name}", proxy.cut, proxy.heal)


def together(*faults: Fault) -> Fault:
    """Begin all of the faults, then end all of them, the last one first."""

    def end() -> None:
        with ExitStack() as all_of_them:
            for fault in faults:
                all_of_them.callback(fault.end)

    def begin() -> None:
        for fault in faults:
            fault.begin()

    return Fault(" and ".join(fault.name for fault in faults), begin, end)


def random_windows(
    faults: Sequence[Fault],
    *,
    seed: int,
    count: int,
    quiet: tuple[float, float] = (0.2, 1.0),
    lasting: tuple[float, float] = (0.2, 1.0),
) -> list[Window]:
    """Return `count` faults drawn with a seed, one after the other.

    Parameters
    ----------
    faults : sequence of Fault
        What may happen.
    seed : int
        The same seed gives the same windows.
    count : int
        How many.
    quiet, lasting : pair of float
        The least and most seconds before each fault, and of each fault.
    """
    rng = Random(seed)
    return [rng.choice(faults).window(rng.uniform(*quiet), rng.uniform(*lasting)) for _ in range(count)]


def _steps(trigger: Trigger) -> tuple[float | Mapping[str, int], ...]:
    return (trigger,) if isinstance(trigger, Mapping | float | int) else tuple(trigger)
