"""Faults in the course of a run: one after the other, each when its time has come, and each undone.

What has returned so far is read from the recorder's file, so faults can be tied to what clients of any kind have seen:
"when 20 writes have returned" is the same on a fast machine and on a slow one.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from latchfree_lincheck.record.entries import Reader
from latchfree_lincheck.record.faults import Window
from latchfree_lincheck.record.shared import SharedRecorder

_LOOK: Final = 0.005
"""Seconds between two looks at what has returned."""


class Plan:
    """A thread that begins and ends faults.

    Parameters
    ----------
    recorder : SharedRecorder
        What the clients record to, and the faults.
    windows : sequence of Window
        When each fault begins and ends.
    """

    def __init__(self, recorder: SharedRecorder, windows: Sequence[Window]) -> None:
        self._recorder = recorder
        self._windows = windows
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="latchfree faults", daemon=True)
        self._begun = 0
        self._passed = False
        self._reader = Reader()
        self.error: BaseException | None = None

    @property
    def over(self) -> bool:
        """Whether no fault is left."""
        return not self._thread.is_alive()

    @property
    def missed(self) -> tuple[str, ...]:
        """The names of faults that the run was too short for."""
        return tuple(window.fault.name for window in self._windows[self._begun :])

    def start(self) -> None:
        """Let the time of the first fault begin."""
        self._thread.start()

    def end(self) -> None:
        """End the fault that is on, begin no other, and return when all is undone."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with self._recorder.path.open("rb") as self._file:
                for window in self._windows:
                    if not self._wait(window.begin):
                        break
                    self._begun += 1
                    with self._recorder.fault(window.fault):
                        self._wait(window.end)
        except BaseException as error:
            self.error = error

    def _wait(self, steps: Sequence[float | Mapping[str, int]]) -> bool:
        """Wait for each step in turn; False if the run ends before."""
        return all(self._counted(step) if isinstance(step, Mapping) else self._slept(step) for step in steps)

    def _slept(self, seconds: float) -> bool:
        self._passed = True
        return not self._ending.wait(seconds)

    def _counted(self, wanted: Mapping[str, int]) -> bool:
        if self._passed:  # what returned before does not count; before the first step, nothing had
            self._reader.feed(self._file.read())
        self._passed = True
        seen: Counter[str] = Counter()
        while any(seen[f] < count for f, count in wanted.items()):
            if self._ending.wait(_LOOK):
                return False
            seen.update(call.f for call in self._reader.feed(self._file.read()) if call.end == "return")
        return not self._ending.is_set()
