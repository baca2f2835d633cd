"""Generators that several threads resume: while one runs it, another one gets "generator already executing".

The interpreter polls when a generator is resumed, and free-threaded builds switch anywhere, so others may come while it
runs, whatever it does. That generators are resumed by one thread each is assumed until some run shows otherwise
(`Constants`): then every resumption of a generator is a step, and so is its first moment.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import WRITE
from latchfree_explore.python.hooks.state import told


def resume(run: Run, generator: Any, line: int, how: Callable[[], Any]) -> Any:
    """Resume a generator, if nobody else runs it.

    Raises
    ------
    ValueError
        If a thread runs it, as the interpreter does.
    """
    task = run.current
    if task is None or not isinstance(generator, types.GeneratorType):
        return how()
    constants = run.constants
    if not constants.generators_are_shared:
        first, _ = run.resumed.setdefault(id(generator), (task.number, generator))
        if first != task.number:
            constants.generators_are_shared = True
            constants.refute()
        return how()
    run.at(line)
    run.record(generator, "running", WRITE)
    if run.telling:
        told(run, line, f"resume {called(run.roots, generator)}")
    if id(generator) in run.running:
        raise ValueError("generator already executing")
    run.running.add(id(generator))
    try:
        run.poll()
        run.at(line)
        return how()
    finally:
        run.running.discard(id(generator))
        run.record(generator, "running", WRITE)
