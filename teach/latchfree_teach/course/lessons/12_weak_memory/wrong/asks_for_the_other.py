@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put(mem, thread, DATA, value)
    fence(mem, thread)
    put(mem, thread, READY, ONE)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    if get(mem, thread, READY) == ONE:
        return np.int64(get(mem, thread, DATA))
    return EMPTY


@kernel
def enter(mem, root, thread):
    """Say that this thread, 0 or 1, wants to enter; return whether the other one does not."""
    put(mem, thread, WANTS + thread, ONE)
    return get(mem, ONE - thread, WANTS + ONE - thread) == ZERO
