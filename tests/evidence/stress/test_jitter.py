"""A thread that gave up the processor to another program for long does not give it up again at once."""

import os
import subprocess
import sys

#: Runs on one processor, beside a program that always wants it.
RESTING = """
import os, subprocess, sys
import numpy as np
from latchfree.jit import kernel
from latchfree_evidence.jitter import STATE_WORDS, shake

@kernel
def shake_often(state, times):
    for _ in range(times):
        shake(state)

state = np.zeros(STATE_WORDS, np.uint64)
address = np.uint64(state.ctypes.data)
shake_often(address, 1)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
other = subprocess.Popen([sys.executable, "-c", "print(flush=True)\\nwhile True: pass"], stdout=subprocess.PIPE)
try:
    other.stdout.readline()
    while not state[2]:
        shake_often(address, 100)
    state[2] = far = 1 << 63
    shake_often(address, 1000)
    print("stays", int(state[2]) == far)
finally:
    other.kill()
    other.wait()
"""


def test_a_thread_that_was_away_rests() -> None:
    """Away for long, it is told until when to rest; until then it never yields, so that time stays as it is."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RESTING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.stdout.splitlines() == ["stays True"], done.stderr
