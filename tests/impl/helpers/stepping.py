"""What a signal handler does between any two steps of a call, done by a trace function at a step that is chosen."""

import dis
import sys

#: After these the interpreter looks for signals; after a call of a function in Python it does so at the beginning.
LOOKS = {"RESUME", "JUMP_BACKWARD", "CALL", "CALL_KW", "CALL_FUNCTION_EX"}
#: After these, if they jump.
LOOKS_BACK = {name for name in dis.opname if name.startswith("POP_JUMP_BACKWARD")}


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


class AtLook(AtStep):
    """The same where each look of the interpreter for signals is a step: what is between two is not interrupted."""

    def __init__(self, act, after):
        super().__init__(act, after)
        self._last = {}  # opcode and place, by the number of a frame

    def _step(self, frame, event, argument):
        if event == "call":
            self._last[id(frame)] = "RESUME", 0
            self._last.pop(id(frame.f_back), None)
        if self.acted or "/latchfree/" not in frame.f_code.co_filename:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        if event == "opcode":
            last, place = self._last.get(id(frame), (None, 0))
            self._last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]], frame.f_lasti
            if last in LOOKS or (last in LOOKS_BACK and frame.f_lasti < place):
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
