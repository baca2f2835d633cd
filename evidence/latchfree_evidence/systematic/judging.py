"""One mutant before its layers, in a child process.

Example: a mutant loops for ever in the third trial. After so many steps the child ends itself, and the verdict says
that the layer has caught the mutant, by "hang".

A child that somebody kills, such as a system without memory left, gives no verdict: `judged` raises.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from latchfree_evidence.systematic.limits import Hang, allow

_MEMORY: Final = 6 << 30


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    Attributes
    ----------
    layer : str or None
        The layer that has caught it; None if it survived.
    how : str
        "wrong" (a check failed), "error" (the mutant raised), "hang", or "crash"; "" if it survived.
    detail : str
        The first line of what was found; of a hang, the limit that has passed.
    seconds : float
        Of processor time.
    """

    layer: str | None
    how: str
    detail: str
    seconds: float


def _run(layers: Mapping[str, Callable[[str, Any], None]], group: str, replaced: Any) -> Verdict:
    for name, layer in layers.items():
        try:
            layer(group, replaced)
        except Hang as hang:
            return Verdict(name, "hang", str(hang), time.process_time())
        except BaseException as error:
            how = "wrong" if isinstance(error, AssertionError) or type(error).__name__ == "Wrong" else "error"
            lines = str(error).splitlines() or [""]
            return Verdict(name, how, f"{type(error).__name__}: {lines[0][:200]}", time.process_time())
        finally:
            allow(0)
    return Verdict(None, "", "", time.process_time())


@dataclass(frozen=True, slots=True)
class Begun:
    """A mutant whose layers run in a child process.

    Attributes
    ----------
    child : int
        The process.
    reading : int
        The descriptor that the verdict comes from.
    first : str
        The first layer: it is said to have caught a mutant that ends the process.
    """

    child: int
    reading: int
    first: str

    def fileno(self) -> int:
        """Return the descriptor, for who waits for one verdict of several."""
        return self.reading

    def verdict(self) -> Verdict:
        """Wait for what the layers say.

        Raises
        ------
        ChildProcessError
            If the child was killed from outside.
        """
        with os.fdopen(self.reading, "rb") as pipe:
            text = pipe.read()
        _, status = os.waitpid(self.child, 0)
        if not text and status in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            raise ChildProcessError(f"the process of a mutant was killed by signal {status}: go on with --resume")
        if not text:
            return Verdict(self.first, "crash", f"status {status}", 0.0)
        return Verdict(**json.loads(text))

    def end(self) -> None:
        """End the process without a verdict."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.reading)


def begin(layers: Mapping[str, Callable[[str, Any], None]], group: str, replaced: Any) -> Begun:
    """Have the layers of a mutant run, each in the one child process that is begun.

    Parameters
    ----------
    layers : mapping
        By name, cheapest first.
    group : str
        Of kernels.
    replaced : mapping
        (module, function) -> the changed tree; empty for the code as it is.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            before = time.process_time()
            verdict = asdict(_run(layers, group, replaced))
            verdict["seconds"] = round(verdict["seconds"] - before, 3)
            os.write(writing, json.dumps(verdict).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)  # before the next child, which would keep it open
    return Begun(child, reading, next(iter(layers)))


def judged(layers: Mapping[str, Callable[[str, Any], None]], group: str, replaced: Any) -> Verdict:
    """Return what a mutant's layers say: `begin`, and wait."""
    return begin(layers, group, replaced).verdict()
