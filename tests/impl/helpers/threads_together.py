"""Running functions in threads that meet."""

import threading


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
