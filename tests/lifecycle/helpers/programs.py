"""Programs of tests: each runs in a process of its own, and is spoken to line by line."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

PATIENCE = 1200  # seconds, after which a program is taken for stuck


class Program:
    """A running program; what it prints on standard error must be nothing.

    Parameters
    ----------
    source : str
        The program, in Python.
    *arguments : object
        Its arguments, as text.
    before : sequence of str
        Words of the command that runs the program.
    """

    def __init__(self, source, *arguments, before=()):
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [
                *before, sys.executable, "-W", "ignore::DeprecationWarning",
                "-c", textwrap.dedent(source), *map(str, arguments),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        self.pid = self.process.pid
        self._watch = threading.Timer(PATIENCE, self.kill_all)
        self._watch.daemon = True
        self._watch.start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._watch.cancel()
        self.kill_all()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self._errors.close()

    def kill_all(self):
        """Kill the program and all that it has started, but for those that have left its session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def line(self):
        """Return the next line that the program prints."""
        text = self.process.stdout.readline()
        assert text, f"the program has ended: {self.errors()}"
        return text.removesuffix("\n")

    def until(self, wanted):
        """Skip lines up to one that begins with these words, and return the rest of that line."""
        while True:
            line = self.line()
            if line.startswith(wanted):
                return line.removeprefix(wanted).strip()

    def say(self, text=""):
        """Give the program a line."""
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def errors(self):
        """Return what the program has printed on standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def ended(self, code=0):
        """Wait for the program and all that shares its output to end, and return what it had still to say."""
        rest = self.process.stdout.read()
        assert (self.process.wait(), self.errors()) == (code, "")
        return rest


def wait_for(condition):
    """Wait for something that must come to be."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
