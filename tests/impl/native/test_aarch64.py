"""The library for aarch64: emitted on this machine, linked, and disassembled; it cannot be run here."""

import shutil
import subprocess

import llvmlite.binding as llvm
import pytest
from native_symbols import NEEDED

from latchfree.libraries.tables import BORDERS
from latchfree.native.module import emitted, linked
from latchfree_lincheck.engine.border import BORDERS as CHECKER

LINKER, READER, LISTER = (f"aarch64-linux-gnu-{tool}" for tool in ("ld", "objdump", "nm"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(LINKER) is None, reason="binutils-aarch64-linux-gnu is not installed")
@pytest.mark.parametrize("borders", [BORDERS, CHECKER], ids=["structures", "checker"])
def test_a_library_for_another_processor(borders, tmp_path):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    names = {border.symbol(name): border.lowered(name) for border in borders for name in border.calls}
    # What was lowered here pauses as this processor does; there, nothing is emitted.
    text = str(linked(names)).replace("call void @llvm.x86.sse2.pause()", "")
    code = emitted(llvm.parse_assembly(text), "aarch64-unknown-linux-gnu", "generic", near=True)
    made, library = tmp_path / "kernels.o", tmp_path / "kernels.so"
    made.write_bytes(code)
    subprocess.run([LINKER, "-shared", "-o", library, made], check=True)
    listed = subprocess.run([LISTER, "-D", library], capture_output=True, text=True, check=True).stdout.splitlines()
    defined = {line.split()[-1] for line in listed if " T " in line}
    missing = {line.split()[-1] for line in listed if " U " in line}
    assert defined == set(names)
    assert {name for name in missing if not name.startswith("Py")} <= NEEDED
    shown = subprocess.run([READER, "-d", library], capture_output=True, text=True, check=True).stdout
    assert ("ldaxr" in shown and "stlxr" in shown) == (borders is BORDERS), "atomics, of the structures only"
    assert shown.count("\tret") > len(names)
