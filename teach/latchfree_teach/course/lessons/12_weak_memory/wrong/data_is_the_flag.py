@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put(mem, thread, READY, ONE)
    put(mem, thread, DATA, value)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    data = get(mem, thread, DATA)
    if data != ZERO:
        return np.int64(data)
    return EMPTY


@kernel
def enter(mem, root, thread):
    """Say that this thread, 0 or 1, wants to enter; return whether the other one does not."""
    put(mem, thread, WANTS + thread, ONE)
    fence(mem, thread)
    return get(mem, thread, WANTS + ONE - thread) == ZERO
