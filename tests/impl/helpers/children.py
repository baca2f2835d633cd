"""Functions in forked children, so that a signal is a failure of one test and not of all tests."""

import os
import signal
import traceback


def in_child(body):
    """Run a function in a forked child, where it must neither raise nor return False nor die."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(body() is False)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, f"the child ended by {signal.Signals(-code).name if code < 0 else f'exit {code}'}"
