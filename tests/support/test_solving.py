"""Ctrl-C while Z3 solves is neither lost nor late."""

import os
import re
import signal
import threading
from pathlib import Path

import z3
from cli_processes import python

from latchfree_support.solving import ask, leave_ctrl_c

PRIMES = (
    7263960943738523581,
    14877896087245008197,
)  # their product is not taken apart in time; that of two near 2**64 is

PROGRAM = f"""
import os, signal, threading, time
import z3
from latchfree_support.solving import ask, leave_ctrl_c
first, second = (z3.ZeroExt(64, z3.BitVec(name, 64)) for name in "xy")
solver = leave_ctrl_c(z3.SolverFor("QF_BV"))
solver.add(first * second == {PRIMES[0] * PRIMES[1]}, z3.ULT(1, first), z3.ULT(first, second))
def question():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return solver.check()
try:
    print(ask(solver.ctx, question))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_question_and_is_raised() -> None:
    """A product of two primes of 64 bits is not taken apart in time."""
    done = python("-c", PROGRAM)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


LEMMA = f"""
import os, signal, threading
import z3
from latchfree_evidence.lemmas import LEMMAS
from latchfree_evidence.lemmas.symbolic_memory import code
from latchfree_evidence.symbolic import lemma
from latchfree_evidence.symbolic.lemma import Lemma, prove
from latchfree_evidence.symbolic.words import Truth
from latchfree_support.solving import ask
def interrupted(context, question):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return ask(context, question)
lemma.ask = interrupted
def state(case, code):
    first, second = (z3.ZeroExt(64, case.word(name).term) for name in "xy")
    case.given(Truth(z3.And(z3.ULT(1, first), z3.ULT(first, second))))
    case.claim("is prime", Truth(first * second != {PRIMES[0] * PRIMES[1]}))
twin = next(iter(LEMMAS.values())).twin
try:
    print(prove(Lemma("prime", "", state, twin), code()).answer)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_proof() -> None:
    done = python("-c", LEMMA)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_no_solver_takes_ctrl_c() -> None:
    root = Path(__file__).parents[2]
    lines = [
        line
        for package in ("model", "lincheck", "evidence", "teach", "cli")
        for file in (root / package).rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"z3\.\w*Solver\w*\(", line)
    ]
    assert len(lines) >= 3
    assert [line for line in lines if "leave_ctrl_c(z3." not in line] == []


def test_what_waited_for_signals_before_still_hears_of_them() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    heard: list[int] = []
    handled = signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    before = signal.set_wakeup_fd(write)
    try:
        solver = leave_ctrl_c(z3.SimpleSolver())

        def question() -> object:
            signal.raise_signal(signal.SIGUSR1)
            assert os.read(read, 1) == bytes([signal.SIGUSR1])  # else this waits for ever
            return solver.check()

        assert ask(solver.ctx, question) == z3.sat
        assert signal.set_wakeup_fd(write) == write
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGUSR1, handled)
        os.close(read)
        os.close(write)
    assert heard == [1]


FORGETFUL = """
import os, select, signal, time
from latchfree_support.solving import ask
class Context:
    times = 0
    def interrupt(self):
        self.times += 1
context = Context()
def forgetful():
    os.kill(os.getpid(), signal.SIGINT)
    until = time.monotonic() + 30
    while context.times < 3 and time.monotonic() < until:
        time.sleep(0.001)
def another():
    os.kill(os.getpid(), signal.SIGUSR1)
    select.select([heard], [], [], 30)  # said by the thread that said the interrupts: it has left that loop
    before = context.times
    time.sleep(0.1)
    return context.times == before
for number in (signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, lambda *_: None)
ask(context, forgetful)
print(context.times >= 3)
heard, write = os.pipe()
os.set_blocking(write, False)
signal.set_wakeup_fd(write)
print(ask(context, another))
"""


def test_an_interrupt_that_comes_too_early_is_said_again() -> None:
    """Z3 forgets one that comes before it has begun; none is said once the question is over."""
    done = python("-c", FORGETFUL)
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


def test_another_thread_asks_as_it_is() -> None:
    answers: list[object] = []
    context = z3.Context()
    solver = leave_ctrl_c(z3.SimpleSolver(ctx=context))
    thread = threading.Thread(target=lambda: answers.append(ask(context, solver.check)))
    thread.start()
    thread.join()
    assert answers == [z3.sat]
