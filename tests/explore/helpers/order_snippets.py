# ruff: noqa: B007, PIE804
"""Functions about the order of evaluation: what each returns, or raises, must be the same when it is explored."""


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


class Log:
    """Notes what is done to it."""

    def __init__(self):
        self.entries = []

    def note(self, value):
        self.entries.append(value)
        return value

    def __getitem__(self, key):
        return self.note(("get", key)) and self

    def __setitem__(self, key, value):
        self.note(("set", key, value))

    def __delitem__(self, key):
        self.note(("del", key))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.note(("look", name))
        return lambda *values: values


class Manager:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def next(self):
        return Manager(self.value + 1)


def turned_list():
    node, turned, values = Box(v=1, next=Box(v=2, next=Box(v=3, next=None))), None, []
    while node:
        node.next, turned, node = turned, node, node.next
    while turned:
        values.append(turned.v)
        turned = turned.next
    return values


def index_before_it_changes():
    i, a = 0, [0, 0, 0]
    a[i], i = 7, 2
    i, a[i] = 1, 8
    return a, i


def index_of_a_loop():
    a, i = [0] * 4, 0
    for a[i], i in [(5, 1), (6, 2)]:
        pass
    return a[0], a[1], i


def places_after_the_value():
    log = Log()
    log[log.note(1)], (log[log.note(2)], *log[log.note(3)]) = log.note((10, (20, 30)))
    log[log.note(4)] = log[log.note(5)] = log.note(40)
    return log.entries


def unpacking_fails_late():
    log = Log()
    try:
        log[0], (log[1], log[2]) = 1, (2,)
    except ValueError as error:
        return log.entries, str(error)


def places_of_comprehensions():
    box, a = Box(n=0, seen=[]), [0, 0]
    found = [(box.n, a[0]) for box.n, (a[0], rest) in [(1, (2, 3)), (4, (5, 6))] if box.n if a[0] > 1]
    return found, box.n, a, [a[1] for a[1] in "xy" for box.n in range(2)], box.n


def stars():
    box = Box(a=0, b=0)
    box.a, *box.b, c = range(4)
    [*box.c] = "xy"
    return box.a, box.b, c, box.c


def augmented():
    log = Log()
    log[log.note("key")] = 5
    box = Box(log=log, n=1)
    box.log.note(box).n += box.log.note(2)
    a = [1, 2, 3]
    a[log.note(1)] += log.note(10)
    a[0:2] *= 2
    return len(log.entries), box.n, a


def deletions():
    log, box = Log(), Box(a=1, b=2, c=3)
    del log[1], (log[2], [log[3]]), (box.a, (box.b,))
    return log.entries, sorted(vars(box))


def managers():
    box = Box()
    with Manager(1) as box.a, box.a.next() as box.b, box.b.next() as (c := Box()).d:
        return box.a.value, box.b.value, c.d.value


def method_before_arguments():
    log = Log()
    log.method(log.note("argument"), key=log.note("keyword")) if False else log.method(log.note("argument"))
    return log.entries


def missing_method():
    log = Log()
    try:
        Box().method(log.note("argument"))
    except AttributeError as error:
        return log.entries, str(error)


def replaced_method():
    class Swaps:
        def act(self, n):
            return "old", n

    one = Swaps()

    def swap():
        one.act = lambda n: ("new", n)
        return 1

    return one.act(swap()), one.act(2)


def spread_methods():
    log = Log()
    return log.method(*log.note([1, 2]), *log.note((3,))), [].append(*[1]), "{a}".format(**{"a": 1}), log.entries


def bad_spreads():
    def function(*values, **names):
        return values, names

    class Callable:
        def __call__(self):
            return None

    texts = []
    for call in (
        lambda: function(*5), lambda: function(**5), lambda: function(**{"a": 1}, **{"a": 2}), lambda: [].append(*5),
        lambda: len(**5), lambda: Box(*5), lambda: Manager(1).next(*5), lambda: dict(**{1: 2}), lambda: print(*None),
    ):  # fmt: skip
        try:
            texts.append(call())
        except TypeError as error:
            texts.append(str(error))
    return texts


SNIPPETS = [
    turned_list, index_before_it_changes, index_of_a_loop, places_after_the_value, unpacking_fails_late,
    places_of_comprehensions, stars, augmented, deletions, managers, method_before_arguments, missing_method,
    replaced_method, spread_methods, bad_spreads,
]  # fmt: skip
