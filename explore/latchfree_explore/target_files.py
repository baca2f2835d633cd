"""Find a target that a file declares."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from latchfree_explore.target import Target


def find_target(name: str) -> Target:
    """Return the target that "FILE.py" or "FILE.py:NAME" declares.

    Raises
    ------
    ValueError
        If there is none, or the file has several and no name was given.
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
    spec.loader.exec_module(module)
    return module
