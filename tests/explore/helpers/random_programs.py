"""Random programs of a few threads on one object, and what they can do: the outcomes of all schedules that are run."""

import linecache
import sys
import types

from latchfree_explore.python.program import Machine, Threads

DOES = [
    "s.x = s.x + 1", "s.x = s.y", "s.y += 1", "s.d['a'] = s.d.get('b', 0) + 1", "s.d.pop('a', None)",
    "r.append('a' in s.d)", "r.append(len(s.d))", "r.append(sorted(s.d.values()))", "s.l.append(s.x)",
    "r.append(s.l[-1])", "r.append(s.l.pop())", "s.d.popitem()", "del s.d['a']", "s.n = Box(s.x)", "r.append(s.n.v)",
    "s.n.v = 7", "s.st.add(s.x)", "r.append(list(s.st))", "r.append([k for k in s.d])", "s.d.clear()", "s.d['c'] = 1",
    "s.d['a'] = 5", "s.l[0] = s.x", "r.append(s.l[0])", "r.append(s.d.setdefault('a', 3))", "helper(s, r)",
    "r.append(s.l + [1])", "bump()", "r.append(TOTAL)", "s.d['a'] += 1", "r.append(int(s.x))",
    "r.append(s.lk.locked())", "time.sleep(1)", "s.sq.put(s.x)", "s.sq.put(1)", "r.append(s.sq.get())",
    "r.append(s.sq.get())", "r.append(s.sq.qsize())", "s.q.put(s.y)", "r.append(s.q.get())", "s.ev.set()",
    "r.append(s.ev.wait(1))", "r.append(s.q.unfinished_tasks)", "s.ar[0] += 1", "r.append(s.ar == array('i', [0]))",
    "s.p = s.p + 1", "r.append(s.p)", "s.sl.v = s.x", "r.append(s.sl.v)", "r.append(s.count())", "r.extend(twice(s))",
    "r.append(s.ask)", "s.sp.v = s.sp.v + s.x", "s.c = s.x + 1", "r.append(s.c)", "S.c = 3", "ME.TOTAL = s.x",
    "r.append(ME.TOTAL)", "globals()['TOTAL'] = 5", "s.dd['k'].append(s.x)", "r.append(sorted(s.dd))",
    "r.append(list(map(s.d.get, 'ab')))", "r.append([a for a, _ in zip(s.l, s.l)])", "list(map(s.l.append, [s.x]))",
    "r.append(max(s.d, key=s.d.get))", "r.append(next(s.it, 0))", "r.append([*s.it])", "s.act = s.other",
    "r.append(s.act())", "r.append(s.view['b'])", "r.append(s.once)", "r.append([v for v in map(plus, s.l)])",
]  # fmt: skip
AROUND = [
    "with s.la:\n        {0}",
    "with s.lb:\n        {0}",
    "with s.la:\n        with s.lb:\n            {0}",
    "with s.lb:\n        with s.la:\n            {0}",
    "with s.lk:\n        {0}",
    "if s.la.acquire(False):\n        {0}\n        s.la.release()\n    else: r.append('busy')",
    "if s.lb.acquire(timeout=1):\n        {0}\n        s.lb.release()\n    else: r.append('late')",
    "if s.x:\n        {0}",
    "while not s.x and len(s.d) < 2:\n        s.d['w'] = 1\n        {0}",
    "while True:\n        with s.la:\n            if s.x: break\n    {0}",
    "while s.q.empty(): pass\n    {0}",
    *["{0}"] * 5,
]
START = """
import threading
import time
import sys
from array import array
from collections import defaultdict
from functools import cached_property
from types import MappingProxyType
from queue import Queue, SimpleQueue
TOTAL = 0
ME = sys.modules[__name__]
def plus(v):
    return v + TOTAL
def bump():
    global TOTAL
    TOTAL += 1
def helper(s, r):
    r.append(s.y)
def twice(s):
    yield s.x
    yield s.x
def counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
class Slots:
    __slots__ = ('v',)
    def __init__(s):
        s.v = 0
class Space(threading.local):
    v = 0
class Box:
    def __init__(s, v):
        s.v = v
class S:
    c = 0
    def act(s):
        return 'act'
    def other(s):
        return s.x
    @cached_property
    def once(s):
        return s.x + s.y
    @property
    def p(s):
        return s._p
    @p.setter
    def p(s, v):
        s._p = v
    def __getattr__(s, name):
        if name != 'ask':
            raise AttributeError(name)
        return s.x + s.y
    def __init__(s):
        s._p, s.sl, s.count, s.sp = 0, Slots(), counter(), Space()
        s.x = s.y = 0
        s.d, s.l, s.n, s.st = {'b': 2}, [1], Box(0), {0}
        s.sq, s.q, s.ev, s.ar = SimpleQueue(), Queue(), threading.Event(), array('i', [0])
        s.dd, s.it, s.view = defaultdict(lambda: [s.y]), iter([1, 2]), MappingProxyType(s.d)
        s.la, s.lb, s.lk = threading.Lock(), threading.Lock(), threading.RLock()
        s.results = [[], [], []]
"""


def random_program(rng):
    """Return a module of two or three functions `t0`, `t1`, `t2` on an object `S`."""
    threads = rng.choice([2, 2, 2, 3])
    parts = [START]
    for thread in range(threads):
        count = rng.randint(1, 1 if threads == 3 else 2)
        body = [rng.choice(AROUND).format(rng.choice(DOES)) for _ in range(count)]
        parts.append(f"def t{thread}(s):\n    r = s.results[{thread}]\n    " + "\n    ".join(body))
    return module_of("\n".join(parts), threads)


def module_of(source, threads):
    module = types.ModuleType("random_program")
    module.__file__ = f"<random program {abs(hash(source))}>"
    module.source, module.threads = source, threads
    linecache.cache[module.__file__] = (len(source), None, source.splitlines(True), module.__file__)
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


class Outcomes(Threads):
    """Remembers what each schedule came to."""

    def __init__(self, module):
        super().__init__([getattr(module, f"t{k}") for k in range(module.threads)], module.S)
        self.module = module
        self.seen = set()

    def judge(self, run):
        if run.problem is not None and run.problem[0] == "diverged":
            raise AssertionError(run.problem)
        (s,) = self._arguments
        errors = [type(task.error).__name__ for task in run.tasks]
        state = s.x, s.y, s.d, s.l, s.n.v, sorted(s.st), list(s.ar), s.results, self.module.TOTAL
        state += s.p, s.sl.v, s.count(), s.sp.v, s.c, dict(s.dd), list(s.it), s.act(), vars(s).get("once")
        self.seen.add(repr((state, errors, run.problem and run.problem[0])))


def outcomes(module, strategy, *, polls, most, timeouts=0):
    """Return what the schedules of a strategy came to, how many there were, how many were cut, and whether all ran."""
    program = Outcomes(module)
    return explored(program, Machine(program, polls=polls, timeouts=timeouts), strategy, most)


def explored(program, machine, strategy, most):
    """Run the schedules of a strategy; `program.seen` is what they came to."""
    schedules = cut = 0
    with machine.ready():
        while schedules < most:
            strategy.begin()
            run, _ = machine.execute(strategy)
            if machine.constants.refuted():
                strategy.restart()
                program.seen.clear()
                schedules = cut = 0
                continue
            schedules += 1
            if run.problem is not None and run.problem[0] == "endless":  # so are all schedules: there is no end
                break
            cut += run.problem is not None and run.problem[0] == "cut"
            if not strategy.advance(run):
                return program.seen, schedules, cut, True
    return program.seen, schedules, cut, False
