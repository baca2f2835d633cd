"""What two functions can come to if threads change before any instruction: real threads, held and let go by a trace.

This knows nothing of the explorer: it sees the instructions of the program's own file, not what they touch. So an
access that the explorer takes for none shows as an outcome that the explorer does not reach.
"""

import _thread
import dis
import sys

QUIET = {
    dis.opmap[name]
    for name in (
        "CACHE", "COPY", "JUMP_BACKWARD", "JUMP_FORWARD", "KW_NAMES", "LOAD_CONST", "LOAD_FAST", "MAKE_FUNCTION", "NOP",
        "POP_TOP", "PRECALL", "PUSH_NULL", "RESUME", "RETURN_VALUE", "STORE_FAST", "SWAP",
    )
    if name in dis.opmap
}  # fmt: skip
"""Instructions that touch nothing that threads share: nobody needs to come before them."""


class Traced:
    """One run of functions in threads, of which one goes on at a time.

    Parameters
    ----------
    functions : list
        Each is called in a thread of its own with `shared`.
    file : str
        The instructions of this file are counted.
    changes : dict
        At which instruction of which thread another one goes on: ``{(0, 7): 1}``.
    """

    def __init__(self, functions, shared, file, changes):
        self.counts = [0] * len(functions)
        self.errors = [None] * len(functions)
        self._functions, self._shared, self._file, self._changes = functions, shared, file, changes
        self._turn = [closed() for _ in functions]
        self._over = [False] * len(functions)
        self._end = closed()

    def run(self, first):
        """Have a thread begin; return when all have ended."""
        for number in range(len(self._functions)):
            _thread.start_new_thread(self._body, (number,))
        self._turn[first].release()
        self._end.acquire()

    def _body(self, number):
        self._turn[number].acquire()
        sys.settrace(lambda frame, event, arg: self._enter(number, frame))
        try:
            self._functions[number](self._shared)
        except Exception as error:
            self.errors[number] = type(error).__name__
        finally:
            sys.settrace(None)
        self._over[number] = True
        left = [k for k, over in enumerate(self._over) if not over]
        (self._turn[left[0]] if left else self._end).release()

    def _enter(self, number, frame):
        if frame.f_code.co_filename != self._file:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def before(frame, event, arg):
            if event == "opcode" and frame.f_code.co_code[frame.f_lasti] not in QUIET:
                target = self._changes.get((number, self.counts[number]))
                self.counts[number] += 1
                if target is not None and not self._over[target]:
                    self._turn[target].release()
                    self._turn[number].acquire()
            return before

        return before


def closed():
    """Return a lock that is taken: who wants to take it waits until somebody gives it back."""
    made = _thread.allocate_lock()
    made.acquire()
    return made


def outcomes(functions, make, file, outcome):
    """Return what two functions come to in all schedules of at most two preemptions.

    Parameters
    ----------
    functions : list
        Two functions of the shared object.
    make : callable
        Makes the shared object, and whatever else is to be as at the start.
    file : str
        Where the functions are.
    outcome : callable
        What a run came to, from the shared object and the names of the errors.
    """
    found = set()

    def once(first, changes):
        shared = make()
        traced = Traced(functions, shared, file, changes)
        traced.run(first)
        found.add(outcome(shared, traced.errors))
        return traced.counts

    for first in 0, 1:
        second = 1 - first
        here = once(first, {})[first]
        for k in range(here):
            there = once(first, {(first, k): second})[second]
            for m in range(1, there):
                once(first, {(first, k): second, (second, m): first})
    return found
