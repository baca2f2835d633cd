"""Functions that are given away, and iteration by the library: what they touch are steps, so each race is found."""

import collections
import contextlib
import copy
import functools
import inspect
import itertools
import operator
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads


class Shared:
    def __init__(self):
        self.load = {"a": 0, "b": 1}
        self.items = []
        self.numbers = [None, 1]
        self.attribute = self.total = 0
        self.seen = None


def found(reads, writes, check, setup=Shared, switches="free"):
    result = explore_threads(
        reads, writes, setup=setup, check=check, switches=switches, strategy="dpor", raises=False
    )  # fmt: skip
    return result.wrong is not None and result.wrong.kind == "invariant"


def busy(it):
    it.load["a"] = 9


READS = {
    "min by get": lambda it: min("ab", key=it.load.get) == "a",
    "max by get": lambda it: max("ab", key=it.load.get) == "b",
    "sorted by get": lambda it: sorted("ab", key=it.load.get) == ["a", "b"],
    "map of __getitem__": lambda it: sum(map(it.load.__getitem__, "ab")) == 1,
    "filter by __contains__": lambda it: list(filter(it.load.__contains__, "abc")) == ["a", "b"],
    "map of itemgetter": lambda it: list(map(operator.itemgetter("a"), [it.load])) == [0],
    "itemgetter": lambda it: operator.itemgetter("a")(it.load) == 0,
    "map of a method of the class": lambda it: list(map(dict.copy, [it.load])) == [{"a": 0, "b": 1}],
    "partial": lambda it: functools.partial(it.load.get, "a")() == 0,
    "map of a partial": lambda it: list(map(functools.partial(it.load.get, "a"), [1])) == [0],
    "reduce": lambda it: functools.reduce(lambda a, b: a + it.load[b], "ab", 0) == 1,
}


@pytest.mark.parametrize("name", READS)
def test_a_read_by_a_function_that_is_given_away_is_a_step(name):
    def reads(it):
        it.seen = READS[name](it)

    def writes(it):
        busy(it)
        it.load["c"] = 1

    assert found(reads, writes, lambda it: it.seen)


def test_a_list_is_sorted_by_what_another_thread_changes():
    def sorts(it):
        names = ["a", "b"]
        names.sort(key=it.load.get)
        it.seen = names[0]

    assert found(sorts, busy, lambda it: it.seen == "a")


def by_a_thread(it):
    thread = threading.Thread(target=it.items.append, args=(1,))
    thread.start()
    thread.join()


def by_a_pool(it):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(it.items.append, 1)


def by_a_callback(it):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).add_done_callback(it.items.append)


def by_a_stack(it):
    with contextlib.ExitStack() as stack:
        stack.callback(it.items.append, 1)


def by_map(it):
    list(map(it.items.append, [1]))


WRITES = [by_a_thread, by_a_pool, by_a_callback, by_a_stack, by_map]


@pytest.mark.parametrize("writes", WRITES)
def test_a_write_by_a_function_that_is_given_away_is_a_step(writes):
    def reads(it):
        it.seen = len(it.items)

    assert found(reads, writes, lambda it: it.seen == 0)
    assert found(reads, writes, lambda it: it.seen == 1)


def sets_by_partial(it):
    functools.partial(setattr, it, "attribute", 5)()


def sets_in_a_thread(it):
    threading.Thread(target=setattr, args=(it, "attribute", 5)).start()


@pytest.mark.parametrize("writes", [sets_by_partial, sets_in_a_thread])
@pytest.mark.parametrize(
    "read",
    [
        lambda it: it.attribute,
        lambda it: getattr(it, "attribute", 0),
        lambda it: next(map(operator.attrgetter("attribute"), [it])),
        lambda it: sorted([it], key=operator.attrgetter("attribute"))[0].attribute,
    ],
)
def test_an_attribute_that_is_written_by_a_function_given_away(writes, read):
    def reads(it):
        it.seen = read(it)

    assert found(reads, writes, lambda it: it.seen == 0)


def test_an_iterator_of_calls_takes_what_another_thread_adds():
    def takes(it):
        it.seen = list(iter(it.numbers.pop, None))

    def adds(it):
        it.numbers.insert(1, 7)

    assert found(takes, adds, lambda it: it.seen != [1, 7])


def same(key):
    return key


def made_anew():
    return []


LOOPS = {
    "zip": lambda d: zip(d, d, strict=True),
    "map": lambda d: map(str, d),
    "map of the program": lambda d: map(same, d),
    "filter": lambda d: filter(None, d),
    "enumerate": enumerate,
    "reversed": reversed,
    "chain": lambda d: itertools.chain(d),
    "chain of a list": lambda d: itertools.chain.from_iterable([d]),
    "islice": lambda d: itertools.islice(d, 5),
    "takewhile": lambda d: itertools.takewhile(lambda key: True, d),
    "zip_longest": lambda d: itertools.zip_longest(d, d),
    "groupby": itertools.groupby,
    "accumulate": itertools.accumulate,
    "starmap": lambda d: itertools.starmap(max, d.items()),
}


def two_keys():
    it = Shared()
    it.load = {1: 1, 2: 2}
    return it


def adds_a_key(it):
    it.load[5] = 5


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_over_a_dictionary_that_grows(name):
    def loops(it):
        it.seen = True
        try:
            for _ in LOOPS[name](it.load):
                it.total += 1
        except RuntimeError:
            it.seen = False

    assert found(loops, adds_a_key, lambda it: it.seen, two_keys)


CALLS = {
    "list of map": lambda it, see: list(map(see, it.load)),
    "max": lambda it, see: max(it.load, key=see),
    "sum of map": lambda it, see: sum(map(see, it.load)),
    "set of filter": lambda it, see: set(filter(see, it.load)),
    "reduce": lambda it, see: functools.reduce(lambda a, b: see(a) + b, it.load),
    "join of map": lambda it, see: "".join(map(str, map(see, it.load))),
    "extend by map": lambda it, see: [].extend(map(see, it.load)),
    "stars": lambda it, see: [*map(see, it.load)],
    "deque of map": lambda it, see: collections.deque(map(see, it.load)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_in_c_that_calls_back_between_two_items(name):
    def loops(it):
        def see(key):
            it.total += 1
            return key

        it.seen = True
        try:
            CALLS[name](it, see)
        except RuntimeError:
            it.seen = False

    assert found(loops, adds_a_key, lambda it: it.seen, two_keys)


def test_an_iterator_with_a_hole_inside_is_no_trap():
    def pairs(it):
        it.seen = list(itertools.zip_longest([1], [1, 2]))
        for pair in itertools.zip_longest([1], [1, 2], it.numbers):
            it.total += len(pair)

    explored = explore_threads(pairs, setup=Shared, check=lambda it: it.seen == [(1, 1), (None, 2)], strategy="dpor")
    assert explored.complete


@pytest.mark.parametrize("take", [next, lambda it: [*it], list, lambda it: next(zip(it, strict=True))])
def test_who_takes_from_a_shared_iterator_leaves_less(take):
    def shared():
        it = Shared()
        it.numbers = iter([1, 2])
        return it

    def takes(it):
        it.seen = take(it.numbers)

    def takes_one(it):
        next(it.numbers, None)

    first = explore_threads(takes, setup=shared, strategy="dpor")
    assert first.complete
    assert found(takes, takes_one, lambda it: "1" in repr(it.seen), shared)


class Thing:
    def __init__(self):
        self.items = []


class Own(dict):
    def __missing__(self, key):
        self[key] = made = []
        return made


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize(
    ("make", "add"),
    [
        (lambda: collections.defaultdict(made_anew), lambda d: d["k"].append(1)),
        (lambda: collections.defaultdict(Thing), lambda d: d["k"].items.append(1)),
        (Own, lambda d: d["k"].append(1)),
    ],
)
def test_two_threads_make_a_missing_item(switches, make, add):
    def size(d):
        return len(getattr(d["k"], "items", d["k"]))

    assert found(add, add, lambda d: size(d) == 2, make, switches)


def test_a_factory_in_c_makes_a_missing_item_at_once():
    def add(d):
        d["k"].append(1)

    for switches in "free", "gil":
        result = explore_threads(
            add, add, setup=lambda: collections.defaultdict(list), check=lambda d: len(d["k"]) == 2,
            switches=switches, strategy="dpor",
        )  # fmt: skip
        assert result.complete


class Hits:
    def __init__(self, counts):
        self.counts = counts

    def hit(self):
        self.counts["a"] += 1


@pytest.mark.parametrize(
    ("counts", "lost"),
    [
        (collections.Counter, True),
        (lambda: collections.Counter(a=0), False),
        (lambda: collections.UserDict(a=0), True),
        (lambda: collections.defaultdict(int), False),
    ],
)
def test_functions_of_the_library_that_an_item_calls_poll(counts, lost):
    before = counts().get("a", 0)
    assert found(Hits.hit, Hits.hit, lambda it: it.counts["a"] == before + 2, lambda: Hits(counts()), "gil") == lost


def test_no_poll_between_two_calls_of_a_function_in_c():
    def reads(it):
        it.seen = list(map(it.load.get, "ab"))

    def writes(it):
        it.load.update(a=1, b=2)

    assert not found(reads, writes, lambda it: it.seen in ([0, 1], [1, 2]), switches="gil")
    assert found(reads, writes, lambda it: it.seen in ([0, 1], [1, 2]))


def test_a_queue_keeps_the_function_that_it_is_given():
    def gives(it):
        waiting = queue.Queue()
        waiting.put(it.items.append)
        waiting.get()(1)
        kept = [it.items.append]
        it.seen = kept[0] == it.items.append

    assert explore_threads(gives, setup=Shared, check=lambda it: it.seen and it.items == [1]).complete


def wrapped(it):
    @functools.wraps(it.items.append)
    def wraps(value):
        return value

    return wraps.__name__ == "append" and wraps.__wrapped__ == it.items.append


def in_a_user_dict(it):
    kept = collections.UserDict()
    kept.setdefault("append", it.items.append)
    return type(kept["append"]) is type([].append)


def compared_by_a_thread(it):
    thread = threading.Thread(target=it.items.append, args=(1,))
    return thread._target == it.items.append and hash(thread._target) == hash(it.items.append)


def named_by_a_thread(it):
    threading.Thread(target=it.items.append, args=(1,)).start()
    return threading.Thread(target=it.items.append)._target.__name__ == "append"


def passed_through_a_context(it):
    @contextlib.contextmanager
    def manages(function):
        yield function

    with manages(it.items.append) as function:
        return type(function) is type([].append)


IDENTITIES = {
    "wraps": wrapped,
    "queue": lambda it: through_a_queue(it.items.append) == it.items.append,
    "signature": lambda it: str(inspect.signature(str.upper)) == "(self, /)",
    "isbuiltin": lambda it: inspect.isbuiltin(it.items.append),
    "deepcopy": lambda it: copy.deepcopy(str.upper) is str.upper,
    "UserDict": in_a_user_dict,
    "Thread": compared_by_a_thread,
    "name": named_by_a_thread,
    "contextmanager": passed_through_a_context,
}


def through_a_queue(function):
    waiting = queue.Queue()
    waiting.put(function)
    got = waiting.get()
    assert type(got) is type(function)
    return got


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_function_that_is_given_away_stays_what_it_is(name):
    def gives(it):
        it.seen = IDENTITIES[name](it)

    assert explore_threads(gives, setup=Shared, check=lambda it: it.seen, strategy="dpor").complete
