@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put(mem, thread, DATA, value)
    fence(mem, thread)
    put(mem, thread, READY, ONE)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    if get(mem, thread, READY) == ZERO:
        return EMPTY
    return np.int64(get(mem, thread, DATA))


@kernel
def enter(mem, root, thread):
    """Look before and after: somebody who is seen before need not be looked for again."""
    other = WANTS + ONE - thread
    put(mem, thread, WANTS + thread, ONE)
    if get(mem, thread, other) != ZERO:
        return False
    fence(mem, thread)
    return get(mem, thread, other) == ZERO
