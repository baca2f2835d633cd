"""Running functions in threads that meet, and one function that must end."""

import threading

#: Seconds for what takes none unless somebody waits.
PATIENCE = 60


def together(*bodies):
    """Run the bodies in threads that start together; an exception in one fails the test."""
    barrier = threading.Barrier(len(bodies))
    failures = []

    def run(body):
        barrier.wait()
        try:
            body()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def at_once(act):
    """Run `act` in a thread; it must end."""
    result = []
    thread = threading.Thread(target=lambda: result.append(act()), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert result, "it hangs, or has raised"
    return result[0]
