"""The error of a program that does not end."""


class Stuck(AssertionError):
    """Threads or tasks did not end: they wait for each other, or run for ever."""
