# ruff: noqa: B007, B023, F841
"""Programs whose threads share variables of a module or a closure: `RACES` names an outcome of each that is reached.

Each entry has the functions of the threads, and what `seen` of the shared object may be at the end.
"""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import shared_module


class Shared:
    def __init__(self):
        self.seen = None


first = second = counter = looped = outside = 0
gone = 7
defined = Defined = imported = caught = matched = rest = None


def reads_two(it):
    a = first
    b = second
    it.seen = a, b


def writes_two(it):
    global first, second
    first, second = 1, 2


def counts(it):
    global counter
    if (counter := counter + 1) > 1:
        it.seen = counter


def loops(it):
    global looped
    for looped in range(1, 3):
        pass


def reads_looped(it):
    it.seen = looped


def deletes(it):
    global gone
    del gone


def reads_gone(it):
    try:
        it.seen = gone
    except NameError:
        it.seen = "gone"


def defines(it):
    global defined, Defined

    def defined():
        return 1

    class Defined:
        pass


def reads_defined(it):
    it.seen = defined is None, Defined is None


def imports(it):
    global imported
    import os as imported


def reads_imported(it):
    it.seen = imported is os


def catches(it):
    global caught
    try:
        raise ValueError
    except ValueError as caught:
        pass


def reads_caught(it):
    try:
        it.seen = type(caught).__name__
    except NameError:
        it.seen = "no more"


def matches(it):
    global matched, rest
    match [1, 2]:
        case [matched, *rest]:
            pass


def reads_matched(it):
    it.seen = matched, rest


def private(it):
    Hidden().set()


class Hidden:
    def set(self):
        global __hidden
        __hidden = 2


_Hidden__hidden = 1


def reads_private(it):
    it.seen = _Hidden__hidden


def captured(it):
    ready = False

    def waiter():
        it.seen = ready

    thread = threading.Thread(target=waiter)
    thread.start()
    ready = True
    thread.join()


def captured_late(it):
    def waiter():
        try:
            it.seen = ready
        except NameError:
            it.seen = "unbound"

    thread = threading.Thread(target=waiter)
    thread.start()
    ready = True
    thread.join()


def captured_by_a_loop(it):
    it.seen = []
    threads = []
    for i in range(2):
        threads.append(threading.Thread(target=lambda: it.seen.append(i)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def captured_by_a_comprehension(it):
    with ThreadPoolExecutor(1) as pool:
        it.seen = [each.result() for each in [pool.submit(lambda: i) for i in range(2)]]


def captured_by_a_generator(it):
    n = 0
    items = (n for _ in range(1))
    thread = threading.Thread(target=lambda: setattr(it, "seen", next(items)))
    thread.start()
    n += 1
    thread.join()


def captured_and_deleted(it):
    n = 0

    def waiter():
        try:
            it.seen = n
        except NameError:
            it.seen = "deleted"

    thread = threading.Thread(target=waiter)
    thread.start()
    del n
    thread.join()


def captured_in_a_handler(it):
    def waiter(error):
        try:
            it.seen = str(error())
        except NameError:
            it.seen = "no more"

    try:
        raise ValueError("raised")
    except ValueError as error:
        thread = threading.Thread(target=waiter, args=(lambda: error,))  # noqa: F821
        thread.start()
    thread.join()


def two_of_a_closure(it):
    a = b = 0

    def writes():
        nonlocal a, b
        a, b = 1, 2

    def reads():
        p = a
        q = b
        it.seen = p, q

    threads = [threading.Thread(target=each) for each in (reads, writes)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def assigned_by_a_class(it):
    n = 0

    def counts():
        class Counts:
            nonlocal n
            n = n + 1

    threads = [threading.Thread(target=counts) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    it.seen = n


def read_by_a_class(it):
    class Reads:
        one = first
        two = second

    it.seen = Reads.one, Reads.two


def writes_another_module(it):
    shared_module.m = 1


def reads_another_module(it):
    it.seen = shared_module.size(), shared_module.size()


def replaced():
    return "old"


def writes_by_name(it):
    globals()["outside"] = 1


def outside_by_name():
    return outside


def reads_by_name(it):
    it.seen = outside, outside


def replaces_a_function(it):
    sys.modules[__name__].replaced = lambda: "new"


def calls_a_function(it):
    it.seen = replaced()


RACES = [
    ((reads_two, writes_two), (0, 2)), ((reads_two, writes_two), (1, 2)), ((counts, counts), None),
    ((reads_looped, loops), 1), ((reads_gone, deletes), "gone"), ((reads_defined, defines), (False, True)),
    ((reads_imported, imports), True), ((reads_caught, catches), "ValueError"), ((reads_caught, catches), "no more"),
    ((reads_matched, matches), (1, None)), ((reads_private, private), 2), ((captured,), False), ((captured,), True),
    ((captured_late,), "unbound"), ((captured_by_a_loop,), [1, 1]), ((captured_by_a_loop,), [0, 1]),
    ((captured_by_a_comprehension,), [1, 1]), ((captured_by_a_comprehension,), [0, 1]), ((captured_by_a_generator,), 1),
    ((captured_and_deleted,), "deleted"), ((captured_in_a_handler,), "raised"), ((captured_in_a_handler,), "no more"),
    ((two_of_a_closure,), (0, 2)), ((assigned_by_a_class,), 1), ((read_by_a_class, writes_two), (0, 2)),
    ((reads_another_module, writes_another_module), (0, 1)),
    ((reads_by_name, writes_by_name), (0, 1)), ((calls_a_function, replaces_a_function), "new"),
]  # fmt: skip


def settled(it):
    """Captures a variable that does not change afterwards: no access of it is a step."""
    n = 0
    n += 1
    if n > 5:
        n = 3

    def again(k):
        return n if k == 0 else again(k - 1)

    threads = [threading.Thread(target=lambda: again(2)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
