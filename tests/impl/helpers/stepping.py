"""What a signal handler does between any two steps of a call, done by a trace function at a step that is chosen."""

import sys


class AtStep:
    """In its block, acts once: when as many steps of the package have been made as said.

    Parameters
    ----------
    act : callable
        May raise.
    after : int
    within : collection of str, optional
        Functions in which each bytecode is a step; elsewhere a step is a line.
    calls : bool
        Whether the beginning of a call is a step, too.
    """

    def __init__(self, act, after, *, within=(), calls=False):
        self._act, self._left, self._within, self._calls = act, after, within, calls
        self.acted = False

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._step)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _step(self, frame, event, argument):
        if self.acted or "/latchfree/" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = frame.f_code.co_name in self._within
        if event == ("opcode" if frame.f_trace_opcodes else "line") or (self._calls and event == "call"):
            self._left -= 1
            if self._left < 0:
                self.acted = True
                sys.settrace(None)
                self._act()
                return None
        return self._step


def interrupt():
    """Raise, as the handler of Ctrl-C does."""
    raise KeyboardInterrupt
