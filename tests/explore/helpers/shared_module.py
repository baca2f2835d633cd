"""A module whose variables threads share."""

n = 0
m = 0
READS_ONLY = 3


def add():
    global n
    n += 1


def size():
    return m
