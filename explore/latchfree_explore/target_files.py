"""Find a target that a file declares."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from traceback import walk_tb

from latchfree_explore.target import Target


def find_target(name: str) -> Target:
    """Return the target that "FILE.py" or "FILE.py:NAME" declares.

    Raises
    ------
    ValueError
        If there is none, the file has several and no name was given, or the file cannot be imported.
    """
    file, colon, wanted = name.partition(".py")
    if not colon:
        raise ValueError(f"unknown target {name!r}; expected FILE.py or FILE.py:NAME")
    path = Path(file + ".py")
    targets = {target.name: target for target in vars(_load(path)).values() if isinstance(target, Target)}
    wanted = wanted.removeprefix(":")
    if wanted:
        if wanted not in targets:
            raise ValueError(f"{path} declares no target {wanted!r}; it has: {', '.join(targets) or 'none'}")
        return targets[wanted]
    if len(targets) != 1:
        raise ValueError(f"{path} declares {len(targets)} targets ({', '.join(targets)}); choose one: {path}:NAME")
    return next(iter(targets.values()))


def _load(path: Path) -> object:
    """Import a file under its own name, so that its kernels are cached as if it had been imported."""
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[path.stem]
        why = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"{path}{_line(error, path)}: {type(error).__name__}: {why}") from error
    return module


def _line(error: BaseException, path: Path) -> str:
    """Return the line of a file where an error comes from, "" if it is not known."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        places = walk_tb(error.__traceback__)
        line = next((at for frame, at in places if Path(frame.f_code.co_filename) == path.absolute()), None)
    return "" if line is None else f", line {line}"
