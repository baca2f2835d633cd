"""The rate limiter: beside a bucket in plain Python, under threads, in an arena, with a clock that the test moves."""

import asyncio
import itertools
import os
import pickle
import signal
import threading
import time

import pytest
from children import in_child
from hypothesis import given
from hypothesis import strategies as st
from threads_together import together

from latchfree import (
    Arena,
    ArenaClosed,
    ArenaInvalid,
    Bloom,
    LimiterGone,
    RateCounts,
    RateLimited,
    RateLimiter,
    StructureExists,
    StructureMissing,
)
from latchfree.limiting.limiter import MOST_BURST, TICKS
from latchfree.streams.futex import FUTEX
from latchfree_fsck import fsck
from latchfree_lincheck import History, Operation, check
from latchfree_model import get_model

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

SECOND = 10**9


class Moved(RateLimiter):
    """A limiter whose clock stands still until the test moves it."""

    __slots__ = ("ns",)

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.ns = 0

    def _clock(self):
        return self.ns


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        yield arena


# one thread ----------------------------------------------------------------------------------------------------------


@given(
    st.integers(1, 5),
    st.lists(st.one_of(st.tuples(st.just("acquire"), st.integers(1, 5)), st.just(("tick",))), max_size=40),
)
def test_answers_are_those_of_the_model(burst, calls):
    limiter, model = Moved(rate=1, burst=burst), get_model(f"token-bucket:{burst}")
    state, granted, refused = model.init(), 0, 0
    for f, *arguments in calls:
        if f == "tick":
            limiter.ns += SECOND
            state = min(burst, state + 1)
            continue
        tokens = min(arguments[0], burst)
        assert limiter.available() == state
        fits = tokens <= state
        assert limiter.try_acquire(tokens) is fits
        state -= tokens * fits
        granted, refused = granted + tokens * fits, refused + tokens * (not fits)
    assert limiter.counts() == RateCounts(granted, refused)


def test_parts_of_tokens_come_in():
    limiter = Moved(rate=2, burst=2)
    assert limiter.try_acquire(2)
    limiter.ns += SECOND // 4
    assert limiter.available() == 0.5
    assert not limiter.try_acquire()
    limiter.ns += SECOND // 4
    assert limiter.try_acquire()
    assert not limiter.try_acquire()


def test_a_reserve_is_left_for_the_important():
    limiter = Moved(rate=1, burst=10)
    assert [limiter.try_acquire(reserve=7) for _ in range(5)] == [True] * 3 + [False] * 2
    assert [limiter.try_acquire(2, reserve=0) for _ in range(4)] == [True] * 3 + [False]
    assert limiter.available() == 1


def test_what_is_refused_says_when_to_come_again():
    limiter = Moved(rate=4, burst=2, when_empty="reject")
    assert limiter.acquire(2)
    with pytest.raises(RateLimited, match=r"too few tokens: 1 can be there in 0\.25 s") as found:
        limiter.acquire()
    assert found.value.retry_after == 0.25
    assert isinstance(found.value, TimeoutError)
    limiter.ns += SECOND // 4
    assert limiter.acquire()


def test_load_is_shed():
    limiter = Moved(rate=1, burst=2, when_empty="shed")
    assert [limiter.acquire() for _ in range(4)] == [True, True, False, False]
    assert limiter.counts() == RateCounts(2, 2)


def test_waiting_takes_the_time_that_it_takes():
    """A clock of our own counts how long the calls slept; nothing here depends on how fast the machine is."""
    limiter = RateLimiter(rate=500, burst=1)
    begun = time.monotonic()
    for _ in range(11):
        assert limiter.acquire()
    assert time.monotonic() - begun >= 10 / 500


def test_what_cannot_be_in_time_is_refused_at_once():
    limiter = RateLimiter(rate=1e-6, burst=1)
    assert limiter.acquire(timeout=0)
    with pytest.raises(RateLimited):
        limiter.acquire(timeout=1000)
    assert limiter.counts() == RateCounts(1, 1)


def test_coroutines_wait_beside_others():
    limiter, seen = RateLimiter(rate=200, burst=1), []

    async def one(number):
        assert await limiter.aacquire()
        seen.append(number)

    async def main():
        await asyncio.gather(*[one(n) for n in range(5)])
        slow = RateLimiter(rate=1e-6, burst=1)
        assert await slow.aacquire()
        with pytest.raises(RateLimited):
            await slow.aacquire(timeout=0.01)
        waiting = asyncio.create_task(slow.aacquire())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert slow.counts().granted == 1

    asyncio.run(main())
    assert sorted(seen) == list(range(5))


def test_a_word_of_another_boot_is_an_empty_bucket():
    """The clock of this boot is far behind: at most as much as the rate allows is granted from now on."""
    limiter = Moved(rate=1, burst=3)
    limiter.ns = 10**15
    assert limiter.try_acquire(3)
    limiter.ns = 0
    assert not limiter.try_acquire()
    limiter.ns = SECOND
    assert limiter.try_acquire()
    assert not limiter.try_acquire()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: RateLimiter(0), ValueError, "rate must be from 1e-06 to 1e"),
        (lambda: RateLimiter(float("nan")), ValueError, "rate must be from"),
        (lambda: RateLimiter("1"), TypeError, "rate must be a number"),
        (lambda: RateLimiter(1, 0), ValueError, "burst must be from 1 to 4,294,967,295"),
        (lambda: RateLimiter(1, MOST_BURST + 1), ValueError, "burst must be from 1"),
        (lambda: RateLimiter(1, 1.0), TypeError, "burst must be an integer"),
        (lambda: RateLimiter(1e-6, MOST_BURST), ValueError, "s to fill, the most is 144,115,188"),
        (lambda: RateLimiter(1, when_empty="wait"), ValueError, "must be one of 'block', 'reject', 'shed', got 'wait'"),
        (lambda: RateLimiter(1, when_empty=None), TypeError, "when_empty must be a string"),
        (lambda: RateLimiter(1, 2).try_acquire(0), ValueError, "tokens must be from 1 to 2"),
        (lambda: RateLimiter(1, 2).try_acquire(3), ValueError, "tokens must be from 1 to 2"),
        (lambda: RateLimiter(1, 2).try_acquire(2, reserve=1), ValueError, "more than the bucket ever holds, 2"),
        (lambda: RateLimiter(1, 2).try_acquire(True), TypeError, "tokens must be an integer"),
        (lambda: RateLimiter(1, 2).acquire(1, -1), ValueError, "timeout must be at least 0"),
        (lambda: pickle.dumps(RateLimiter(1)), TypeError, "two would grant twice as much"),
    ],
)
def test_what_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_the_rate_is_never_above_the_one_asked_for():
    for rate in (1e-6, 0.3, 1, 3, 7e5, 1e8):
        assert rate * (1 - 1e-2) < RateLimiter(rate).rate <= rate
    assert repr(RateLimiter(3e6, 7)) == "<RateLimiter of 2.99991e+06 a second, 7 at once, block>"
    assert TICKS == 32


# threads and processes -----------------------------------------------------------------------------------------------


def test_a_recorded_run_is_linearizable():
    """Threads take, one moves the clock; the history is one of a token bucket, and a lie in it is found."""
    limiter, ticket, operations = Moved(rate=1, burst=3), itertools.count(), []

    def record(process, f, arguments, call):
        invoke = next(ticket)
        result = call()
        operations.append(Operation(process, f, arguments, result, invoke, next(ticket)))

    def take(process):
        for k in range(60):
            tokens = 1 + (k + process) % 3
            record(process, "acquire", (tokens,), lambda tokens=tokens: limiter.try_acquire(tokens))

    def move():
        limiter.ns += SECOND

    def tick():
        for _ in range(60):
            record(9, "tick", (), move)

    together(*[lambda n=n: take(n) for n in range(3)], tick)
    history = History("limiter", operations)
    assert check(history, "token-bucket:3").verdict == "ok"
    granted = [Operation(10, "acquire", (3,), True, 10**6 + 2 * n, 10**6 + 2 * n + 1) for n in range(2)]
    assert check(History("lie", [*operations, *granted]), "token-bucket:3").verdict == "violation"


def test_threads_take_no_more_than_there_is():
    limiter, taken = Moved(rate=1, burst=1000), []
    together(*[lambda: taken.append(sum(limiter.try_acquire() for _ in range(400))) for _ in range(4)])
    assert sum(taken) == 1000
    assert limiter.counts() == RateCounts(1000, 600)


def test_a_named_limiter(shared):
    made = RateLimiter.create(shared, "calls", rate=1e-6, burst=5, when_empty="shed")
    with pytest.raises(StructureExists):
        RateLimiter.create(shared, "calls", rate=1)
    other, third = RateLimiter.open(shared, "calls"), pickle.loads(pickle.dumps(made))
    assert [limiter.acquire(2) for limiter in (made, other, third)] == [True, True, False]
    assert third.counts() == RateCounts(4, 2)
    assert (other.name, other.arena, other.when_empty, other.burst) == ("calls", shared, "shed", 5)
    in_child(lambda: other.try_acquire())
    assert not made.try_acquire()
    with pytest.raises(ValueError, match=r"'calls' is a RateLimiter, not a Bloom; open it with RateLimiter\.open"):
        Bloom.open(shared, "calls")
    sent = pickle.dumps(made)
    RateLimiter.unlink(shared, "calls")
    for call in (made.try_acquire, made.acquire, made.available, made.counts, lambda: pickle.loads(sent)):
        with pytest.raises((LimiterGone, StructureMissing), match="calls"):
            call()
    with pytest.raises(TypeError, match="arena must be an Arena"):
        RateLimiter.create("arena", "calls", rate=1)


def test_its_words_come_back(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        RateLimiter.create(arena, "calls", rate=1)
        used = arena.used
        for _ in range(200):
            RateLimiter.unlink(arena, "calls")
            RateLimiter.create(arena, "calls", rate=1)
        assert arena.used == used


def test_a_file_is_checked_and_another_one_refused(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        made = RateLimiter.create(arena, "calls", rate=1e-6, burst=9)
        made.acquire(4)
        sent = pickle.dumps(made)
    with pytest.raises(ArenaClosed):
        made.try_acquire()
    report = fsck(path=path)
    assert report.clean
    assert [(each.kind, each.name, each.values, each.entries) for each in report.structures] == [
        ("RateLimiter", "calls", "tokens", 4)
    ]
    with Arena.open(path) as arena:
        root = arena.directory.find("calls").root
        arena.words[root + 9] += 1
    assert "has the shape" in fsck(path=path).damage[0]
    path.unlink()
    with Arena.create(path=path, capacity=8 << 20) as arena:
        RateLimiter.create(arena, "calls", rate=1)
        with pytest.raises(ArenaInvalid, match="another arena has taken the place"):
            pickle.loads(sent)


def test_who_is_killed_takes_nothing_along(shared):
    """Two children take until there is nothing left; one is killed. All tokens were granted, none twice."""
    made = RateLimiter.create(shared, "calls", rate=0.01, burst=200_000)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            while True:
                made.try_acquire()
                os.write(tell, b".")
        finally:
            os._exit(1)
    os.close(tell)
    acknowledged = len(os.read(ready, 100))
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    while data := os.read(ready, 1 << 16):
        acknowledged += len(data)
    os.close(ready)
    mine = 0
    while made.try_acquire(1000):
        mine += 1000
    while made.try_acquire():
        mine += 1
    # one take may have been under way, and not been counted
    assert 200_000 - 1 <= mine + acknowledged <= 200_000


# who waits notices the end -------------------------------------------------------------------------------------------


@pytest.fixture
def unhurried(monkeypatch):
    """Nobody looks before an hour has gone by, unless woken."""
    monkeypatch.setattr("latchfree.limiting.limiter._NAP", 3600.0)
    monkeypatch.setattr("latchfree.streams.watching._LOOK", 3600.0)
    if not FUTEX.works:
        pytest.skip("this kernel wakes nobody")


def waiting(call):
    """Run a call in a thread; return the thread, and the list that its error will be in."""
    found = []

    def run():
        try:
            call()
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, found


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", ["thread", "coroutine"])
@pytest.mark.parametrize("ends", ["unlink", "close"])
def test_who_waits_is_woken_by_the_end(shared, unhurried, monkeypatch, ends, kind, late):
    """Of the limiter, and of the arena; whoever begins to wait just then is not left asleep, either."""
    made = RateLimiter.create(shared, "calls", rate=1e-6)
    assert made.acquire()
    begun, real = threading.Event(), FUTEX.wait

    def noticed(*arguments):
        begun.set()
        real(*arguments)

    monkeypatch.setattr(FUTEX, "wait", noticed)
    thread, found = waiting(made.acquire if kind == "thread" else lambda: asyncio.run(made.aacquire()))
    assert begun.wait(120)
    if late:  # it sleeps by now, most likely
        time.sleep(0.02)
    if ends == "unlink":
        RateLimiter.unlink(shared, "calls")
    else:
        shared.close()
    thread.join(120)
    assert not thread.is_alive()
    assert [type(error) for error in found] == [LimiterGone if ends == "unlink" else ArenaClosed]
    assert made._sleepers._waiting == []


def test_who_waits_in_another_process_is_woken(shared, unhurried):
    made = RateLimiter.create(shared, "calls", rate=1e-6)
    assert made.acquire()
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            real = FUTEX.wait
            FUTEX.wait = lambda *arguments: (os.write(tell, b"."), real(*arguments))
            made.acquire()
        except LimiterGone:
            code = 0
        finally:
            os._exit(code)
    assert os.read(ready, 1) == b"."
    RateLimiter.unlink(shared, "calls")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(ready)
    os.close(tell)


def test_who_closes_waits_for_nobody_but_those_who_can_look(shared, monkeypatch):
    """Those of the closing thread look when it goes on; those of a parent are not here; others are waited for."""
    made, slept = RateLimiter.create(shared, "calls", rate=1e-6), []
    sleepers = made._sleepers
    monkeypatch.setattr(time, "sleep", slept.append)
    sleepers._waiting[:] = [(os.getpid(), threading.get_ident()), (os.getpid() + 1, 2)]
    sleepers.end()
    assert slept == []
    sleepers._waiting[:] = [(os.getpid(), 2)]  # it never comes back
    sleepers.end()
    assert 1 <= len(slept) <= 1_000
    sleepers._waiting.clear()


def test_while_calls_are_under_way_who_waits_goes_on(shared_name, unhurried):
    """An arena that is about to be closed is not closed yet: the limiter works, and nobody falls asleep for long."""
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        made = RateLimiter.create(arena, "calls", rate=1e-6)
        assert made.acquire()
        closer = threading.Thread(target=arena.close, daemon=True)
        with arena.call():
            closer.start()
            while not arena.closing:
                time.sleep(0.001)
            made._sleepers.sleep(3600)
            asyncio.run(made._sleepers.asleep(3600))
            assert not made.try_acquire()
        closer.join(120)
        with pytest.raises(ArenaClosed):
            made.acquire()
