"""Places for jobs: no more at a time than there are places, the largest of those that wait first."""

import threading
import time
from collections.abc import Callable

import pytest

from latchfree_cli.slots import Slots, default_count


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def waiting(slots: Slots) -> int:
    """Return how many jobs wait."""
    return len(slots._waiting)


def test_the_largest_that_waits_is_next_and_of_equals_the_first_that_came() -> None:
    slots = Slots(1, threading.Event())
    order: list[str] = []

    def job(name: str, size: float) -> None:
        with slots.taken(size) as place:
            assert place
            order.append(name)

    threads = []
    with slots.taken(0):
        for number, (name, size) in enumerate([("small", 1), ("large", 3), ("first", 2), ("second", 2)], start=1):
            threads.append(threading.Thread(target=job, args=(name, size)))
            threads[-1].start()
            until(lambda number=number: waiting(slots) == number)  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order == ["large", "first", "second", "small"]


def test_no_more_than_there_are_places() -> None:
    slots = Slots(2, threading.Event())
    inside, most = 0, 0
    lock = threading.Lock()

    def job() -> None:
        nonlocal inside, most
        with slots.taken(1):
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.001)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=job) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 2
    with slots.taken(1) as one, slots.taken(1) as two:
        assert (one, two) == (True, True)


def test_cancelling_ends_the_waiting_and_a_failed_job_gives_its_place_back() -> None:
    cancelled = threading.Event()
    slots = Slots(1, cancelled)
    with pytest.raises(ZeroDivisionError), slots.taken(1):
        raise ZeroDivisionError
    got: list[bool] = []

    def job() -> None:
        with slots.taken(1) as place:
            got.append(place)

    thread = threading.Thread(target=job)
    with slots.taken(1):
        thread.start()
        until(lambda: waiting(slots) == 1)
        cancelled.set()
        thread.join()
    assert got == [False]
    assert waiting(slots) == 0


def test_default_count() -> None:
    assert 2 <= default_count() <= 8
