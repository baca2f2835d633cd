"""What the workers of `multiprocessing` do in the tests; they are found by name, as spawned processes need."""

import os
import signal


def fill(numbers, first):
    """Put 100 keys, some of them in bulk, and return the process that did so."""
    keys = list(range(first, first + 100))
    numbers.put_many(keys[:50], keys[:50])
    for key in keys[50:]:
        numbers[key] = key
    with numbers.readonly_snapshot() as snapshot:
        assert all(snapshot[key] == key for key in keys)
    return os.getpid()


def fill_and_wait(numbers, first, pipe):
    """Fill, hold a snapshot and a fork, say so, and wait for the end."""
    held = [numbers.readonly_snapshot(), numbers.snapshot()]
    held[1].update({k: -k for k in range(300)})
    fill(numbers, first)
    pipe.send(os.getpid())
    signal.pause()


def fill_and_die(numbers, first):
    """Fill, and be killed."""
    fill(numbers, first)
    os.kill(os.getpid(), signal.SIGKILL)
