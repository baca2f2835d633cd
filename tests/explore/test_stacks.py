"""Switching stacks: machines that are known, and what happens elsewhere."""

import platform
import re
import subprocess
import sys

import pytest

from latchfree_explore.board import stacks


def test_other_machines_are_refused_by_name():
    with pytest.raises(stacks.Unsupported, match="Darwin on arm64"):
        stacks.require_machine("arm64", "Darwin")
    with pytest.raises(stacks.Unsupported, match="riscv64"):
        stacks.require_machine("riscv64", "Linux")
    stacks.require_machine(platform.machine(), platform.system())


def _registers(code, instruction):
    """(register, place) pairs of the instructions of that name, the first one adjusting the stack pointer."""
    found = set()
    for line in code.splitlines():
        if found_line := re.fullmatch(rf"\s*{instruction} (\w+), (\w+), \[sp(?:, #(\d+))?\].*|.*", line):
            first, second, place = found_line.groups()
            if first:
                found |= {(first, int(place or 0)), (second, int(place or 0) + 8)}
    return found


def test_the_code_for_aarch64_keeps_what_a_callee_must():
    code, words, returns = stacks.MACHINES["aarch64"]
    # The first store moves the stack pointer down by the whole frame, the last load up again.
    kept = _registers(code.replace("[sp, #-160]!", "[sp]"), "stp")
    restored = _registers(code.replace("[sp], #160", "[sp]"), "ldp")
    assert kept == restored
    assert {name for name, _ in kept} == {f"x{k}" for k in range(19, 31)} | {f"d{k}" for k in range(8, 16)}
    assert {place for _, place in kept} == set(range(0, 8 * words, 8))
    assert ("x30", 8 * returns) in kept


def test_the_code_for_x86_64_keeps_what_a_callee_must():
    code, words, returns = stacks.MACHINES["x86_64"]
    pushed = re.findall(r"pushq %(\w+)", code)
    assert sorted(pushed) == sorted(["rbp", "rbx", "r12", "r13", "r14", "r15"])
    assert pushed == re.findall(r"popq %(\w+)", code)[::-1]
    assert returns == len(pushed)
    assert words > returns


def test_a_stack_that_overflows_ends_the_process_and_corrupts_nothing():
    program = (
        "import ctypes\n"
        "from latchfree_explore.board.stacks import STACK_BYTES, FRAME_WORDS, Stack\n"
        "stack = Stack(1, 2)\n"
        "bottom = stack.top + 8 * FRAME_WORDS - STACK_BYTES\n"
        "ctypes.memset(bottom, 1, 8)\n"
        "print('bottom', flush=True)\n"
        "ctypes.memset(bottom - 8, 1, 8)\n"
        "print('below', flush=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert run.stdout == "bottom\n"
    assert run.returncode == -11
