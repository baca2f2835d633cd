"""Calls that no library has are lowered, optimised once, kept on disk, and loaded; numba's own compiling goes on."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import codegen
from threads_together import together

from latchfree.border import INT, INTS, Border, Call
from latchfree.jit import kernel
from latchfree.native import kept, saying
from latchfree.native.library import SETTING

NOWHERE = Path("/nowhere")


@kernel
def total(numbers):
    doubled = np.full(len(numbers), 2) * numbers
    copied = doubled[::-1].copy()
    return copied.sum()


@kernel
def impossible(numbers):
    return nobody_defines_this(numbers)  # noqa: F821


class Alone(Border):
    """A border without a library."""

    def _address(self, name):
        return None


CALLS = Alone(__name__, {"total": Call(total, (INTS,), INT), "impossible": Call(impossible, (INTS,), INT)})


def test_a_call_is_compiled_and_numba_goes_on():
    """Functions that stand in for NumPy's are lowered for the call first, and compiled by numba for its own next."""
    numbers = np.arange(5)
    assert CALLS.total(numbers) == 20

    @numba.njit
    def mine(numbers):
        return (np.full(len(numbers), 2) * numbers)[::-1].copy().sum() + total(numbers)

    assert mine(numbers) == 40
    assert total(numbers) == 20
    assert CALLS.total(numbers) == 20


def test_threads_lower_at_the_same_time_and_numba_goes_on():
    """Who restores numba's classes must not restore what another thread has patched."""

    def by_numba():
        mine = numba.njit(lambda numbers: (np.full(len(numbers), 2) * numbers)[::-1].copy().sum())
        assert mine(np.arange(5)) == 20

    together(*[lambda: kept.compiled("total", lambda: CALLS.lowered("total")), by_numba] * 3)
    assert "finalize" not in vars(codegen.JITCodeLibrary)

    @numba.njit
    def mine(numbers):
        return np.full(2, 7)[::-1].copy().sum() + len(numbers)

    assert mine(np.arange(5)) == 19


def test_a_call_that_cannot_be_lowered_changes_nothing():
    with pytest.raises(numba.core.errors.TypingError, match="nobody_defines_this"):
        CALLS.impossible(np.arange(5))

    @numba.njit
    def mine(numbers):
        return np.full(3, 7)[::-1].copy().sum() + len(numbers)

    assert mine(np.arange(5)) == 26


@pytest.mark.parametrize("damage", ["cut to nothing", "cut", "flipped"])
def test_a_damaged_file_is_made_again(tmp_path, damage):
    made = []

    def make():
        made.append(1)
        return CALLS.lowered("total")

    symbol = damage.replace(" ", "_")
    assert kept.address(tmp_path, symbol, make)
    file = tmp_path / f"{symbol}.o"
    whole = file.read_bytes()
    assert kept.is_kept(tmp_path, symbol)
    file.write_bytes({"cut to nothing": b"", "cut": whole[:-1], "flipped": whole[:99] + b"\xff" + whole[100:]}[damage])
    assert not kept.is_kept(tmp_path, symbol)
    kept.address(tmp_path, symbol, make)
    assert len(made) == 2
    assert kept.is_kept(tmp_path, symbol)
    kept.address(tmp_path, symbol, make)
    assert len(made) == 2


def test_without_a_folder_that_can_be_written():
    assert kept.address(None, "homeless", lambda: CALLS.lowered("total"))
    assert kept.address(NOWHERE, "nowhere", lambda: CALLS.lowered("total"))
    assert not kept.is_kept(NOWHERE, "nowhere")


FIRST = "from latchfree import RingBuffer; ring = RingBuffer(8); ring.try_put(1); print(ring.try_get(), end='')"
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": "/usr/bin:/bin", SETTING: "jit"}


def test_what_was_kept_is_loaded_without_numba(tmp_path):
    environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": str(tmp_path)}
    program = FIRST + "; import sys; print('numba' in sys.modules)"
    said = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [each.stdout.split() for each in said] == [["1True"], ["1False"]]
    assert [each.stderr for each in said] == ["", ""], "no terminal, no words"


def shown(environment):
    """Return what a program shows on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", FIRST], env=environment, stdout=subprocess.DEVNULL, stderr=theirs
    ) as run:
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            text += more
            if not more:
                break
        assert run.wait() == 0
    os.close(ours)
    return text.decode()


def test_a_terminal_is_told_while_something_is_compiled(tmp_path):
    environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    text = shown(environment)
    assert f"latchfree: compiling streams drop, once for this machine ({SETTING}=jit) ■ 1" in text
    assert text.endswith("\x1b[K"), "the line goes"
    assert shown(environment) == "", "nothing is compiled"
    assert shown(environment | {"NUMBA_CACHE_DIR": str(tmp_path / "another"), saying.QUIET: "1"}) == ""


def test_the_compiler_is_an_extra(tmp_path):
    """A name in place of numba's folder on the path hides numba."""
    blocked = "import sys; sys.modules['numba'] = None; sys.modules['llvmlite'] = None; "
    environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", blocked + FIRST], env=environment, capture_output=True, text=True)
    assert run.returncode == 1
    assert 'numba is not installed; fix: pip install "latchfree[jit]"' in run.stderr
