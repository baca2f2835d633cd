"""Programs of threads, explored to the end: what is found, in how many schedules, and what is said of it."""

import gc
import queue
import sys
import threading
import weakref
from concurrent.futures import Future

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore.python.exploring import explore_threads
from latchfree_explore.python.result import ExplorationFailed


def explored(*threads, **options):
    return explore_threads(*threads, raises=False, strategy="dpor", **options)


def call(name, *arguments):
    return lambda shared: getattr(shared, name)(*arguments)


def test_a_lost_update_is_found_and_shown():
    with pytest.raises(ExplorationFailed) as caught:
        explore_threads(*[call("increment")] * 2, setup=so.Counter, check=lambda it: it.n == 2)
    result = caught.value.result
    assert result.wrong.kind == "invariant"
    assert result.preemptions == 1
    text = str(caught.value)
    assert "self.n = before + 1" in text
    assert "read Counter.n: 0" in text
    assert "write Counter.n = 1" in text


MODELS = [
    # object, calls of each thread, check, verdict where any access interleaves, verdict under the interpreter lock
    (so.Counter, ["increment", "increment"], lambda it: it.n == 2, "violation", "ok"),
    (so.ItemCounter, ["increment", "increment"], lambda it: it.d["n"] == 2, "violation", "ok"),
    (so.ConvertingCounter, ["increment", "increment"], lambda it: it.n == 2, "violation", "violation"),
    (so.Lazy, ["get", "get", "get"], lambda it: it.made == 1, "ok", "ok"),
    (so.FlagFirst, ["get", "get"], lambda it: it.value == 42, "ok", "ok"),
]


@pytest.mark.parametrize(("make", "names", "check", "free", "gil"), MODELS)
def test_the_two_models_of_the_interpreter(make, names, check, free, gil):
    threads = [call(name) for name in names]
    for switches, verdict in (("free", free), ("gil", gil)):
        result = explored(*threads, setup=make, check=check, switches=switches)
        assert result.verdict == verdict, result.explain()
        assert result.complete == (verdict == "ok")


def test_two_locks_in_two_orders_deadlock():
    result = explored(call("there"), call("back"), setup=so.Bank)
    assert result.wrong.kind == "deadlock"
    assert "thread 0 waits for Bank.second, held by thread 1" in result.wrong.message
    assert "thread 1 waits for Bank.first, held by thread 0" in result.wrong.message


def test_a_buffer_with_a_condition_is_right():
    two_in, two_out = lambda it: (it.put(1), it.put(2)), lambda it: (it.get(), it.get())
    result = explored(two_in, two_out, setup=so.Buffer, check=lambda it: not it.items)
    assert result.verdict == "ok"
    assert result.complete


def test_waking_one_of_the_wrong_kind_deadlocks_without_a_preemption():
    result = explored(call("put", 1), call("put", 2), call("get"), call("get"), setup=so.NotifyOneBuffer)
    assert result.wrong.kind == "deadlock"
    assert "a notify of NotifyOneBuffer.changed" in result.wrong.message
    assert result.preemptions == 0


def test_waiting_once_is_too_little():
    result = explored(lambda it: (it.put(1), it.put(2)), call("get"), call("get"), setup=so.IfBuffer)
    assert result.wrong.kind == "exception"
    assert "IndexError" in result.wrong.message


def test_a_signal_that_comes_too_early_is_a_lost_wakeup():
    result = explored(call("signal"), call("wait"), setup=so.MissedSignal)
    assert result.wrong.kind == "lost wakeup"
    assert "thread 0 notified before, when nobody waited" in result.wrong.message


def test_a_loop_that_waits_is_no_endless_run():
    result = explored(lambda it: it.wait() or 1 / 0, call("set"), setup=so.Spin)
    assert result.verdict == "ok"
    assert result.schedules <= 5
    result = explored(call("wait"), call("wait"), setup=so.Spin)
    assert result.wrong.kind == "livelock"
    assert result.schedules == 1


def test_an_lru_without_a_lock_breaks():
    for switches in ("free", "gil"):
        result = explored(
            lambda it: (it.put(1, 1), it.get(1)), call("put", 2, 2), setup=so.Lru, switches=switches
        )  # fmt: skip
        assert result.wrong.kind == "exception"
        assert "KeyError" in result.wrong.message


@pytest.mark.parametrize("program", [so.through_a_queue, so.sleepy])
def test_the_library_runs_over_controlled_threads(program):
    result = explored(program)
    assert result.verdict == "ok", result.explain()
    assert result.complete


def test_a_pool_of_threads():
    result = explore_threads(so.in_a_pool, strategy="pct", schedules=20, raises=False)
    assert result.verdict == "ok", result.explain()


def test_variables_of_modules_are_shared_and_put_back():
    result = explored(so.add_to_total, so.add_to_total, check=lambda: so.TOTAL == 2)
    assert result.verdict == "violation"
    assert so.TOTAL == 0
    assert explored(so.add_to_total_locked, so.add_to_total_locked, check=lambda: so.TOTAL == 2).complete
    assert so.TOTAL == 0
    assert so.LOCK.acquire(blocking=False)
    so.LOCK.release()


def test_objects_that_are_older_are_put_back():
    counter, items = so.Counter(), {"a": [1]}

    def add():
        items["a"].append(len(items))
        items["b"] = 1

    result = explored(counter.increment, counter.increment, add, check=lambda: counter.n == 2)
    assert result.verdict == "violation"
    assert counter.n == 0
    assert items == {"a": [1]}


def test_variables_of_closures_are_shared():
    total = 0

    def add():
        nonlocal total
        total += 1

    result = explored(add, add, check=lambda: total == 2)
    assert result.verdict == "violation"
    assert total == 0


def test_everything_is_put_back():
    cls, code, lock = so.Counter, so.Counter.increment.__code__, so.threading
    names = set(vars(so))
    with pytest.raises(ExplorationFailed):
        explore_threads(*[call("increment")] * 2, setup=so.Counter, check=lambda it: it.n == 2)
    assert so.Counter is cls
    assert so.Counter.increment.__code__ is code
    assert so.threading is lock is threading is sys.modules["threading"]
    assert set(vars(so)) == names
    assert type(so.Bank().first) is type(threading.Lock())


def test_ctrl_c_ends_the_exploration_and_puts_everything_back():
    code = so.Counter.increment.__code__
    made = []

    def check(counter):  # what it writes stays, as it is no part of a schedule
        made.append(1)

    def interrupts(counter):
        counter.increment()
        if len(made) > 2:
            raise KeyboardInterrupt

    result = explored(interrupts, call("increment"), setup=so.Counter, check=check)
    assert result.interrupted
    assert result.verdict == "unknown"
    assert so.Counter.increment.__code__ is code


def test_a_program_that_differs_from_run_to_run_is_named():
    from latchfree_explore.python.core.run import Diverged

    counts = (number for number in range(1000))  # it goes on from run to run

    def draws(counter):
        if next(counts) % 2:
            counter.n = 1

    with pytest.raises(Diverged, match="in an earlier run with the same choices"):
        explored(draws, call("increment"), setup=so.Counter)


def test_what_cannot_be_controlled_is_named(monkeypatch):
    import select

    from latchfree_explore.python import watchdog
    from latchfree_explore.python.rewriting.instrument import CannotControl

    monkeypatch.setattr(watchdog, "PATIENCE", 0.2)

    def hangs(counter):
        select.select([], [], [], 600)

    with pytest.raises(CannotControl, match=r"no step in"):
        explored(hangs, call("increment"), setup=so.Counter)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="a thread must be a function, got int"):
        explore_threads(print, 7)
    with pytest.raises(TypeError, match="check must be a function, got str"):
        explore_threads(print, check="done")
    with pytest.raises(TypeError, match="setup must be a function, got list"):
        explore_threads(print, setup=[])


def test_functions_without_source_are_refused():
    from latchfree_explore.python.rewriting.instrument import CannotControl

    space = {"__name__": "nowhere"}
    exec("def add(counter):\n    counter.n += 1\n", space)
    with pytest.raises(CannotControl, match="add has no source"):
        explored(space["add"], call("increment"), setup=so.Counter)


def test_a_proxy_of_something_that_is_gone_is_in_nobodys_way():
    proxy = weakref.proxy(so.Counter())
    gc.collect()
    with pytest.raises(ReferenceError):
        str(proxy)
    assert explored(call("increment"), setup=so.Counter).verdict == "ok"


SPACE = threading.local()


def test_a_namespace_of_a_thread_is_its_own():
    SPACE.value = 7

    def uses():
        assert not hasattr(SPACE, "value")
        SPACE.value = 1
        assert SPACE.value == 1

    assert explored(uses, uses).verdict == "ok"
    assert SPACE.value == 7


class Space(threading.local):
    """A class on top of `threading.local`: each thread begins with a list of its own."""

    def __init__(self, first=0):
        self.items = [first]

    def add(self, item):
        self.items.append(item)
        return self.items


SPACES = Space()
SPACES.items = [7]


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_class_of_namespaces_has_one_for_each_thread(switches):
    def uses(space):
        assert SPACES.add(1) == [0, 1]
        assert space.add(2) == [5, 2]
        assert SPACES.add(3) == [0, 1, 3]

    result = explored(uses, uses, setup=lambda: Space(5), check=lambda space: space.items == [5], switches=switches)
    assert (result.verdict, result.complete) == ("ok", True)
    assert SPACES.items == [7]
    assert Space.__bases__ == (threading.local,)


def test_what_a_class_of_namespaces_shares_is_seen_by_all():
    class Shared(threading.local):
        total = 0

        def add(self):
            Shared.total = self.total + 1

    result = explored(*[lambda space: space.add()] * 2, setup=Shared, check=lambda space: space.total == 2)
    assert result.wrong is not None
    assert Shared.total == 0


class Worker(threading.Thread):
    """A class on top of `threading.Thread`."""

    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def run(self):
        self.counter.increment()


def test_classes_on_top_of_the_library_are_controlled():
    def main():
        counter = so.Counter()
        workers = [Worker(counter), Worker(counter)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert counter.n == 2, counter.n

    before = {*threading.enumerate()}  # some may end meanwhile: those of other tests
    result = explored(main)
    assert result.wrong.kind == "exception"
    assert {*threading.enumerate()} <= before
    assert Worker.__bases__ == (threading.Thread,)


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_thread_that_waits_for_ever_is_reported_though_the_first_one_has_ended(switches):
    """A thread that is no daemon keeps the program alive; so does one that started it."""

    def start_and_leave():
        threading.Thread(target=threading.Event().wait).start()

    result = explored(start_and_leave, switches=switches)
    assert result.wrong is not None
    assert "thread 1 waits for" in result.wrong.message


def test_a_module_that_a_thread_imports_is_explored_too(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text(
        "class Counter:\n    n = 0\n    def add(self):\n        before = self.n\n        Counter.n = before + 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "imported_late", raising=False)

    def add():
        from imported_late import Counter

        Counter().add()

    def whole():
        return sys.modules["imported_late"].Counter.n == 2

    found = explore_threads(add, add, check=whole, strategy="dpor", raises=False)
    assert found.wrong is not None
    assert found.preemptions == 1
    assert not any(name.startswith("_lf_") for name in vars(sys.modules["imported_late"]))


def test_a_module_that_a_thread_imports_has_its_body_run_in_an_empty_namespace(tmp_path, monkeypatch):
    package = tmp_path / "late_package"
    package.mkdir()
    (package / "__init__.py").write_text("from late_package import part\nassert 'once' not in globals()\nonce = 1\n")
    (package / "part.py").write_text("assert 'n' not in globals()\nn = 0\ndef add():\n    global n\n    n += 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def add():
        from late_package import part

        part.add()

    def whole():
        return sys.modules["late_package"].part.n == sys.modules["late_package.part"].n == 2

    try:
        found = explore_threads(add, add, check=whole, strategy="dpor", raises=False)
    finally:
        for name in "late_package", "late_package.part":
            sys.modules.pop(name, None)
    assert found.wrong is not None
    assert found.preemptions == 1


def test_a_generator_that_outlives_the_exploration_goes_on():
    kept = []

    class Numbers:
        def __init__(self):
            self.n = 0
            self.lock = threading.Lock()

        def all(self):
            while True:
                with self.lock:
                    self.n += 1
                yield self.n

        def start(self):
            self.made = self.all()
            next(self.made)

    def check(it):
        kept.append(it.made)
        return True

    assert explore_threads(lambda it: it.start(), lambda it: it.n, setup=Numbers, check=check).verdict == "ok"
    assert [next(kept[0]), next(kept[0])] == [1, 2]


def leaves_in_a_thread():
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()


def with_a_hook_of_its_own(got):
    threading.excepthook = lambda told: got.append((told.exc_type, told.thread.name))
    thread = threading.Thread(target=lambda: 1 / 0, name="divides")
    thread.start()
    thread.join()


def with_a_hook_that_fails(got):
    threading.excepthook = lambda told: 1 / 0
    threading.Thread(target=lambda: [].pop()).start()


def test_what_ends_a_thread_goes_where_python_has_it_go():
    assert explore_threads(leaves_in_a_thread).verdict == "ok"
    hooks = threading.excepthook
    expected = [(ZeroDivisionError, "divides")]
    assert explore_threads(with_a_hook_of_its_own, setup=list, check=lambda got: got == expected).verdict == "ok"
    assert threading.excepthook is hooks
    failed = explore_threads(with_a_hook_that_fails, setup=list, raises=False)
    assert isinstance(failed.wrong.error, ZeroDivisionError)


class Consumers:
    def __init__(self):
        self.condition, self.items, self.waiting = threading.Condition(), [], 0

    def put(self):
        with self.condition:
            self.items.append(1)
            self.condition.notify()

    def get(self):
        with self.condition:
            while not self.items:
                self.condition.wait()
            self.items.pop()

    def look_too_early(self):
        found = bool(self.items)
        with self.condition:
            self.waiting += 1
            if not found:
                self.condition.wait()


@pytest.mark.parametrize(
    ("threads", "kind"),
    [
        ([Consumers.put, Consumers.get, Consumers.get], "deadlock"),
        ([Consumers.put, Consumers.look_too_early], "lost wakeup"),
    ],
)
def test_a_wakeup_is_lost_only_if_nobody_has_looked_since(threads, kind):
    assert explore_threads(*threads, setup=Consumers, strategy="dpor", raises=False).wrong.kind == kind


def waits_for_the_end():
    thread = threading.Thread(target=threading.Event().wait, name="worker")
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("thread", "words"),
    [
        (lambda: threading.Event().wait(), "thread 0 waits for a notify of an Event"),
        (lambda: threading.Semaphore(0).acquire(), "thread 0 waits for a notify of a Semaphore"),
        (lambda: queue.Queue().get(), "thread 0 waits for a notify of a Queue"),
        (lambda: Future().result(), "thread 0 waits for a notify of a Future"),
        (
            waits_for_the_end,
            "thread 0 waits for the end of thread 1 (worker), thread 1 (worker) waits for a notify of an Event",
        ),
    ],
)
def test_a_deadlock_says_what_is_waited_for(thread, words):
    assert explore_threads(thread, raises=False).wrong.message == words
