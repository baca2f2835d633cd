"""Counters that read and write with something in between: on real threads, what does the interpreter let happen?

Run as a program it makes two real threads add to each counter and prints how many additions were lost.
"""

import sys
import threading


def nothing():
    return None


class Plain:
    def __init__(self):
        self.n = 0

    def add(self):
        before = self.n
        self.n = before + 1


class Item(Plain):
    def __init__(self):
        self.n = 0
        self.d = {"n": 0}

    def add(self):
        self.d["n"] += 1
        self.n = self.d["n"]


class CallIntoC(Plain):
    def add(self):
        before = int(self.n)
        self.n = before + 1


class CallOfPython(Plain):
    def add(self):
        before = self.n
        nothing()
        self.n = before + 1


class ReturnOfPython(Plain):
    def read(self):
        return self.n

    def add(self):
        self.n = self.read() + 1


class Loop(Plain):
    def add(self):
        before = self.n
        for _ in (1, 2):
            pass
        self.n = before + 1


class Branch(Plain):
    def add(self):
        before = self.n
        if before is None:
            before = 0
        self.n = before + 1


SNIPPETS = [Plain, Item, CallIntoC, CallOfPython, ReturnOfPython, Loop, Branch]
#: Whether an addition can be lost where threads change only at the polls of CPython 3.11 to 3.13.
LOSES = {"Plain": False, "Item": False, "CallIntoC": True, "CallOfPython": True, "ReturnOfPython": False,
         "Loop": True, "Branch": False}  # fmt: skip


def lost(kind, additions):
    counter, start = kind(), threading.Barrier(2)

    def work():
        start.wait()
        add = counter.add
        for _ in range(additions):
            add()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 2 * additions - (counter.d["n"] if kind is Item else counter.n)


if __name__ == "__main__":
    sys.setswitchinterval(1e-6)
    for kind in SNIPPETS:
        rounds, total = 0, 0
        while rounds < 4 or (LOSES[kind.__name__] and not total and rounds < 200):
            rounds, total = rounds + 1, total + lost(kind, 50_000)
        print(kind.__name__, total)
