"""Where the inner parts of the explorer stand as machine code, if somebody had them compiled (`compiling`).

The extension stands in the cache folder under a digest of the sources, so after an edit Python runs the sources again.
``LATCHFREE_EXPLORE_COMPILED=0`` has Python run the sources in any case.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import sysconfig
from importlib import import_module
from pathlib import Path
from typing import Final

from latchfree.jit import cache_root

SETTING: Final = "LATCHFREE_EXPLORE_COMPILED"
MODULES: Final = (
    "core/constants", "core/names", "core/run", "core/steps", "core/task", "core/undo", "facts/effects", "facts/lookup",
    "facts/proxies", "facts/slots", "facts/whole", "hooks/announce", "hooks/atomic", "hooks/bound", "hooks/calls",
    "hooks/generators", "hooks/given", "hooks/items", "hooks/iterating", "hooks/keeping", "hooks/operators",
    "hooks/state", "hooks/touched", "hooks/variables", "library/twins", "search/races", "search/strategies",
)  # fmt: skip
"""What most of the time is spent in. No module is here that looks at the frames of its callers."""
HERE: Final = Path(__file__).parent


def folder() -> Path:
    """Return where the extension stands, or would stand."""
    digest = hashlib.sha256(sysconfig.get_config_var("SOABI").encode())
    for name in MODULES:
        digest.update((HERE / f"{name}.py").read_bytes())
    return cache_root() / "explorer" / digest.hexdigest()[:24]


def use() -> bool:
    """Have the extension imported in place of the sources, if there is one; return whether there is."""
    if os.environ.get(SETTING) == "0" or not (cache_root() / "explorer").is_dir():
        return False
    made = folder()
    shared = next(made.glob("*__mypyc.*"), None)
    if shared is None:
        return False
    name = shared.name.partition(".")[0]
    spec = importlib.util.spec_from_file_location(name, shared)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    for each in sorted({each.partition("/")[0] for each in MODULES}):
        import_module(f"latchfree_explore.python.{each}").__path__.insert(0, str(made / each))
    return True
