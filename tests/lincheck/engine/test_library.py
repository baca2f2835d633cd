"""The library of the checker is of the sources whose code ran while it was made, and of no others."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_cli.histories import lane
from latchfree_lincheck.native import LINCHECK

LOADED = """
import json, sys
import latchfree_lincheck.engine.border
import latchfree.native.build, latchfree.jit.cache, latchfree.jit.lowering, latchfree.llvm
print(json.dumps([each.__file__ for name, each in sys.modules.items()
                  if name.split(".")[0] == "latchfree" and each.__file__ and name != "latchfree"]))
"""


def test_what_kernels_stand_on_is_among_its_sources():
    """The face of `latchfree` alone is not: it hands names on, and has no kernel."""
    shown = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout
    files = [Path(file) for file in json.loads(shown)]
    assert len(files) > 15
    assert [str(file) for file in files if not {file, *file.parents} & {*LINCHECK.sources}] == []


def test_the_lane_looks_at_the_same_sources(monkeypatch):
    """It reads no module of the checker before it has answered, so it has a list of its own."""
    looked = []
    monkeypatch.setattr("latchfree_support.library_keys.key", lambda *places: looked.extend(map(Path, places)))
    monkeypatch.setattr("latchfree_support.library_keys.processor", lambda: "x86-64-v2")
    monkeypatch.setattr("latchfree_support.library_keys.is_sealed", lambda file, text: False)
    monkeypatch.delenv("LATCHFREE_COMPILED", raising=False)
    with pytest.raises(lane.NotUsual):
        lane.loaded()
    assert looked == LINCHECK.sources
