"""Stop at one step of a schedule, in the debugger of the standard library, in the frame that is about to take the step.

While the prompt is open no run is in progress: what the user evaluates takes no steps and starts no decisions, so the
schedule goes on as it would have.
"""

from __future__ import annotations

import pdb
import sys
from types import FrameType, TracebackType

from latchfree_explore.python.core.places import is_of_the_program
from latchfree_explore.python.core.run import CONTROL


class Debugger(pdb.Pdb):
    """A debugger whose prompt is no part of the schedule."""

    def interaction(self, frame: FrameType | None, traceback: TracebackType | None) -> None:
        """Talk with the user."""
        run, CONTROL.run = CONTROL.run, None
        try:
            super().interaction(frame, traceback)
        finally:
            CONTROL.run = run

    def do_next(self, arg: str) -> None:
        """Say that the schedule decides who goes on."""
        self.message("the schedule decides who goes on: c goes on, q ends; --pdb N opens at another step")

    def do_run(self, arg: str) -> None:
        """Say that a replay begins anew by its command."""
        self.message("the replay begins anew with its command; q ends this one")

    def do_break(self, arg: str, temporary: object = 0) -> None:
        """Say that there are no breakpoints."""
        self.message("there are no breakpoints, since the code runs rewritten; --pdb N opens at another step")

    def get_stack(self, f: FrameType | None, t: TracebackType | None) -> tuple[list[tuple[FrameType, int]], int]:
        """Return the frames of the program, and the place of the last one: those of the explorer are in between."""
        frames, at = super().get_stack(f, t)
        own = [(frame, line) for frame, line in frames if is_of_the_program(frame.f_code.co_filename)]
        return (own, len(own) - 1) if own else (frames, at)

    do_restart = do_run
    do_n = do_step = do_s = do_return = do_r = do_until = do_unt = do_jump = do_j = do_next
    do_b = do_tbreak = do_condition = do_commands = do_ignore = do_enable = do_disable = do_clear = do_cl = do_break


def stop_here(number: int, thread: str) -> None:
    """Open the debugger's prompt in the nearest frame of the program.

    Parameters
    ----------
    number : int
        The step that is about to be taken.
    thread : str
        Who takes it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_of_the_program(frame.f_code.co_filename):
        frame = frame.f_back
    debugger = Debugger(skip=["latchfree_explore.*"], nosigint=True)  # else its handler of Ctrl-C stays behind
    debugger.message(f"step {number} of {thread}")
    debugger.reset()
    debugger.interaction(frame or sys._getframe(1), None)
    if debugger.quitting:
        raise KeyboardInterrupt
