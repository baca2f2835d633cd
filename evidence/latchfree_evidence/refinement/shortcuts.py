"""Give a bounded model of `Ctrie.tla` the shortcuts that the code takes (see `spec/mc/MCAsCoded.tla`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from latchfree_model.tlc import SpecModel

_MODULE: Final = "mc/MCCtrie.tla"
_AS_CODED: Final = "mc/MCAsCoded.tla"
OVERRIDES: Final = """
CONSTANTS
  ReadOnly <- UndoesAtOnce
  Copied <- CopiedIfChanged
  GcasReturned <- ReturnedUnlessTomb
"""


@contextmanager
def with_shortcuts(model: SpecModel) -> Iterator[SpecModel]:
    """Yield the model with the code's shortcuts; its configuration is there until the end of the block.

    Raises
    ------
    ValueError
        If it is no model of `MCCtrie.tla`.
    """
    if model.module != _MODULE:
        raise ValueError(f"{model.name} is a model of {model.module}; only those of {_MODULE} are also there as coded")
    with TemporaryDirectory(prefix="latchfree-coded-") as folder:
        config = Path(folder, Path(model.config).name)
        config.write_text((model.root / model.config).read_text(encoding="utf-8") + OVERRIDES, encoding="utf-8")
        yield replace(model, module=_AS_CODED, config=str(config), distinct=None, depth=None)
