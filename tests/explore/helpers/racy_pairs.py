"""Pairs of a line that reads and one that writes, for two threads: of the explorer, and of the system."""

import itertools
import linecache
import re
import sys
import types
from pathlib import Path

START = """
import array, bisect, collections, contextlib, copy, dataclasses, functools, heapq, io, itertools, json, math, operator
import re, string, struct, sys, types, weakref
from types import SimpleNamespace as Names
ME = sys.modules[__name__]
TOTAL = 0
LIMIT = [0, 0]
def total():
    return TOTAL
def pair(a, b=0):
    return (a, b)
def many(*args, **kwargs):
    return args, sorted(kwargs.items())
def counter():
    n = 0
    def count():
        return n
    def add():
        nonlocal n
        n = n + 1
        n = n + 1
    return count, add
@dataclasses.dataclass
class Inner:
    x: int = 0
    l: list = dataclasses.field(default_factory=lambda: [0])
@dataclasses.dataclass
class Outer:
    inner: Inner = dataclasses.field(default_factory=Inner)
    n: int = 0
@dataclasses.dataclass(order=True, slots=True)
class Slotted:
    a: int = 0
    b: int = 0
Pair = collections.namedtuple('Pair', 'a b')
class Box:
    def __init__(s, v=0):
        s.v = v
        s.w = v
    def __eq__(s, other):
        return s.v == other.v and s.w == other.w
    __hash__ = object.__hash__
    def __repr__(s):
        return f'Box({s.v})'
    def __len__(s):
        return s.v
    def __iter__(s):
        yield s.v
        yield s.w
    def __getitem__(s, k):
        return s.w
    def __contains__(s, k):
        return s.v == k
    def __call__(s):
        return s.v, s.w
    def __lt__(s, other):
        return s.v < other.v
    def __index__(s):
        return s.v
    def __enter__(s):
        return s.v
    def __exit__(s, *e):
        return None
class Plain:
    v = w = 0
class Loud(list):
    pass
class Attrs(dict):
    def __getattr__(s, name):
        return s[name]
class Kept:
    kept = 0
    @classmethod
    def count(cls):
        return cls.kept
    @functools.cached_property
    def once(s):
        return s.p
    @property
    def p(s):
        return s._p
    g = property(operator.attrgetter('_p'))
    def __init__(s):
        s._p = 0
class S(Kept):
    def __init__(s):
        super().__init__()
        s.r = []
        s.x = s.y = 0
        s.d = {'a': 0, 'b': 0}
        s.l = [0, 0]
        s.rows = [[0, 0], [0, 0]]
        s.dl = {'k': [0, 0]}
        s.tl = ([0, 0],)
        s.box, s.boxes, s.o = Box(), [Box(), Box()], Outer()
        s.sl, s.ns, s.nt, s.plain = Slotted(), Names(x=0, y=0), Pair([0], [0]), Plain()
        s.st, s.dq, s.ar = {0}, collections.deque([0, 0]), array.array('i', [0, 0])
        s.od, s.cn = collections.OrderedDict(a=0, b=0), collections.Counter(a=0, b=0)
        s.dd, s.cm = collections.defaultdict(list, k=[0]), collections.ChainMap({'a': 0}, {'b': 0})
        s.ba, s.it, s.loud = bytearray(b'aa'), iter([0, 1, 2]), Loud([0, 0])
        s.at, s.ud, s.ul = Attrs(v=0, w=0), collections.UserDict(a=0, b=0), collections.UserList([0, 0])
        s.view, s.keys, s.items = types.MappingProxyType(s.d), s.d.keys(), s.d.items()
        s.count, s.add = counter()
        s.held = Box()
        s.proxy = weakref.proxy(s.held)
        s.cls = type('Made', (Plain,), {})
"""
HERE = Path(__file__).parent
READS = (HERE / "racy_reads.txt").read_text().splitlines()
WRITES = (HERE / "racy_writes.txt").read_text().splitlines()
HELP = """
def set_total():
    global TOTAL
    TOTAL = TOTAL + 1
    TOTAL = 0
def starred(s):
    for a, *b in s.rows:
        yield a, b
def nested(s):
    a, (b, *c) = s.x, s.rows[0]
    (d, e), = s.tl
    return a, b, c, d, e
def first(s):
    a, b = s.l
    return a, b
def nth(s):
    first, *rest = s.l
    return first, rest
def walked(s):
    found = []
    for k, row in enumerate(s.rows):
        for v in row:
            found.append((k, v))
    return found
def within(s):
    with contextlib.ExitStack() as stack:
        return stack.enter_context(s.box), s.box.w
def kept(s):
    held = s.l
    return held[0] if held else None, held[-1:]
def asserted(s):
    assert s.x == s.y, 'differ'
    return s.x
def chained(s):
    return 0 <= s.x <= s.y <= 2
def conditional(s):
    return s.x if s.y else s.d.get('a') or s.l and s.l[0]
def exchange(s):
    s.x, s.y = s.y + 1, s.x + 1
def caught(s):
    try:
        s.l[5] = s.d['zz']
    except (KeyError, IndexError) as error:
        s.x = len(str(error))
    finally:
        s.y = 1
def lambdas(s):
    first = lambda: s.l[0]
    last = lambda k=-1: s.l[k]
    return first(), last()
def inner(s):
    def deep():
        return [s.x, s.y]
    return deep()
def sliced(s):
    a = s.l[:1]
    b = s.l[1:]
    return a, b
def looped(s):
    found = []
    at = 0
    while at < len(s.l) < 5:
        found.append(s.l[at])
        at += 1
    else:
        found.append('end')
    return found
def delegated(s):
    def numbers():
        yield from s.l
        return s.x
    return list(numbers())
def spread(s):
    a, *b = *s.l, s.x
    return a, b, [*s.d, *s.st]
def text(s):
    return f'{s.x}' + '%d' % s.y + '{}'.format(s.l) + str(s.d.get('a'))
def compared(s):
    return s.l == s.rows[0], s.d != {'a': 0}, s.st < {0, 1, 2}, s.x in s.l, s.x is None
def lambdas_write(s):
    put = lambda k, v: s.d.__setitem__(k, v)
    put('a', 6), put('b', 6)
def swapped(s):
    s.l[0], s.l[1] = s.l[1], s.l[0] + 1
    s.rows[0], s.rows[1] = s.rows[1], [3, 3]
def augmented(s):
    s.x += s.y + 1
    s.y -= s.x
    s.l += [s.x]
    s.st |= {s.y}
def t0(s):
    r = s.r
    r.append(({read}))
def t1(s):
    {write}
"""
STATE = (
    "x", "y", "d", "l", "rows", "dl", "tl", "o", "sl", "ns", "nt", "st", "dq", "ar", "od", "cn", "dd", "cm", "ba",
    "loud", "at", "ud", "ul", "r",
)  # fmt: skip
NAMES = {
    *STATE, "_p", "TOTAL", "LIMIT", "__class__", "__dict__", "add", "box", "boxes", "cls", "it", "held", "kept",
    "once", "plain",
}  # fmt: skip
TOUCHES = {
    "asserted": "xy", "caught": "xy", "chained": "xy", "exchange": "xy", "inner": "xy",
    "augmented": ["x", "y", "l", "st"], "compared": ["l", "rows", "d", "st", "x"], "conditional": "xydl",
    "delegated": "lx", "first": "l", "lambdas": "l", "lambdas_write": "d", "looped": "l",
    "nested": ["x", "rows", "tl"], "nth": "l", "kept": ["l", "kept"], "sliced": "l", "spread": ["l", "x", "d", "st"],
    "starred": ["rows"], "swapped": ["l", "rows"], "text": "xyld", "total": ["TOTAL"], "walked": ["rows"],
    "within": ["box"], "__dict__": ["x", "y", "_p"], "count": ["add"], "g": ["_p"], "items": "d", "keys": "d",
    "once": ["_p", "__dict__"], "p": ["_p"], "plain": ["cls"], "proxy": ["held"], "view": "d",
}  # fmt: skip
"""What a name of a line stands for, beside itself."""
_NUMBERS = itertools.count()


def pairs():
    """Return the pairs of a line that reads and one that writes, that have something in common."""
    read, write = ({line: _touched(line) for line in lines} for lines in (READS, WRITES))
    return [(a, b) for a, touched in read.items() for b, changed in write.items() if touched & changed]


def _touched(line):
    names = set(re.findall(r"\w+", line))
    return {*names, *itertools.chain(*(TOUCHES.get(name, ()) for name in names))} & NAMES


def module_of(read, write):
    """Return a module of two functions of an object `S`, of which one reads and the other one writes."""
    source = START + HELP.replace("{read}", read).replace("{write}", write)
    module = types.ModuleType("racy_pair")
    module.__file__ = f"<racy pair {next(_NUMBERS)}>"
    linecache.cache[module.__file__] = (len(source), None, source.splitlines(True), module.__file__)
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


def outcome(module, s, errors):
    """Return what a run came to, as text."""
    state = [repr(vars(s).get(name, "gone")) for name in STATE]
    boxes = [(vars(each).get("v"), vars(each).get("w")) for each in (s.box, *s.boxes, s.plain)]
    return repr((state, boxes, vars(s).get("once"), s._p, module.TOTAL, s.kept, s.count(), errors))
