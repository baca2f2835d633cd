"""The end of a program: threads at work, signals, openings closed twice, in part, or from a handler."""

import signal

import pytest
from programs import Program

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck, inspect

BEGIN = """
import os, pickle, signal, sys, threading
from pathlib import Path
from latchfree import Arena, ArenaClosed, Ctrie

arena = Arena.open(Path(sys.argv[1]))
numbers = Ctrie.open(arena, "numbers")
keys = list(range(1000, 3000))
started = threading.Event()

def work():
    while True:
        numbers.put_many(keys, keys)
        assert list(numbers.get_many(keys)) == keys
        started.set()

def start(function=work, daemon=True):
    thread = threading.Thread(target=function, daemon=daemon)
    thread.start()
    started.wait()
    return thread

"""


def run(source, path, code=0):
    """Run a program that begins with an open map, and return what the program prints."""
    with Program(BEGIN + source, path) as program:
        return program.ended(code)


def whole(path):
    """Whether the arena opens again with its content, and nothing is damaged."""
    with Arena.open(path) as arena:
        numbers = Ctrie.open(arena, "numbers")
        assert all(numbers[k] == k for k in range(100))
        numbers[100] = 100
    return inspect(path=path).sealed and not fsck(path=path, repair=True).damage


@pytest.mark.parametrize("threads", [1, 3])
def test_a_daemon_thread_is_at_work(path, threads):
    for _ in range(5):
        assert run("start()\n" * threads + "print('end')", path) == "end\n"
        assert whole(path)


def test_another_process_goes_on_when_one_ends_with_a_daemon_thread_at_work(path):
    other = BEGIN + (
        "thread = start()\nprint('started', flush=True)\n"
        "for line in sys.stdin:\n    started.clear()\n    assert started.wait(1200) and thread.is_alive()\n"
        "    assert all(numbers[k] == k for k in range(100))\n    print('well', flush=True)\n"
    )
    with Program(other, path) as program:
        assert program.line() == "started"
        for _ in range(5):
            run("start()\nstart()", path)
            program.say("are you well?")
            assert program.line() == "well"
        program.process.stdin.close()
        program.ended()
    assert whole(path)


def test_a_thread_that_outlives_close_is_refused(path):
    source = """
refused = []
def until_refused():
    try:
        work()
    except ArenaClosed:
        refused.append(True)

threads = [start(until_refused) for _ in range(3)]
arena.close()
for thread in threads:
    thread.join()
print(refused)
"""
    assert run(source, path) == "[True, True, True]\n"
    assert inspect(path=path).sealed
    assert whole(path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_handler_that_closes(path, number):
    source = f"""
def stop(*_):
    arena.close()
    print("closed", flush=True)
    sys.exit(7)

signal.signal({int(number)}, stop)

def until_refused():
    try:
        work()
    except ArenaClosed:
        pass

start(until_refused)
os.kill(os.getpid(), {int(number)})
signal.pause()
"""
    assert run(source, path, 7) == "closed\n"
    assert inspect(path=path).sealed
    assert whole(path)


@pytest.mark.parametrize("how", ["sys.exit(7)", "arena.close()"])
def test_a_handler_that_ends_the_program_in_a_call_of_its_thread(path, how):
    """Python runs a handler between two steps of the main thread, which may be in the midst of a call."""
    source = """
numbers.put_many(keys, keys)  # compiled now: numba swallows what a handler raises in the midst of it
list(numbers.get_many(keys))

def stop(*_):
    HOW

signal.signal(signal.SIGALRM, stop)
with arena:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        work()
    except ArenaClosed:
        sys.exit(7)
"""
    for _ in range(3):
        run(source.replace("HOW", how), path, 7)
        assert inspect(path=path).sealed
    assert whole(path)


def test_closing_twice(path):
    source = """
with arena:
    pass
arena.close()
arena.close()
try:
    numbers[1]
except ArenaClosed as error:
    print("Arena.open" in str(error))
"""
    assert run(source, path) == "True\n"
    assert whole(path)


def test_an_opening_is_closed_and_another_one_of_the_process_goes_on(path):
    source = """
again = pickle.loads(pickle.dumps(numbers))
third = Ctrie.open(Arena.open(Path(sys.argv[1])), "numbers")
held = [m.readonly_snapshot() for m in (numbers, third)]
thread = start()
again[200] = 1
again.arena.close()
third.put_many(keys, keys)
started.clear()
started.wait()
third.arena.close()
for n in range(20):
    numbers.update({k: k for k in range(5000, 7000)})
    started.clear()
    started.wait()
    for k in range(5000, 7000):
        del numbers[k]
assert thread.is_alive() and numbers[200] == 1 and len(held[0]) == 100
for map in (again, third):
    try:
        map[0]
    except ArenaClosed:
        print("refused")
"""
    assert run(source, path) == "refused\nrefused\n"
    assert whole(path)


def test_a_daemon_thread_compiles(path):
    """LLVM's memory went with the process, under the thread that used it: SIGSEGV or SIGABRT."""
    source = """
import threading, time
import latchfree.jit
from llvmlite import binding
from numba.core.compiler_lock import global_compiler_lock

text = ["define i64 @work(i64 %a0) {", *(f"%a{n} = add i64 %a{n - 1}, {n}" for n in range(1, 300_000)), "ret i64 %a9 }"]
text = "\\n".join(text)
begun = threading.Event()

def compile():
    with global_compiler_lock:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            begun.set()
            binding.parse_assembly(text)
        print("compiled", flush=True)

threading.Thread(target=compile, daemon=True).start()
assert begun.wait(600)
print("end", flush=True)
"""
    with Program(source, path) as program:
        assert program.ended(0) == "end\ncompiled\n"
