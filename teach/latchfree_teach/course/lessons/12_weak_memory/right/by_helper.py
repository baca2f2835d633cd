@kernel
def put_and_wait(mem, thread, at, value):
    """Store a value, and wait until it is delivered."""
    put(mem, thread, at, value)
    fence(mem, thread)


@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put_and_wait(mem, thread, DATA, value)
    put(mem, thread, READY, 1)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    ready = get(mem, thread, READY)
    return np.int64(get(mem, thread, DATA)) if ready != ZERO else EMPTY


@kernel
def enter(mem, root, thread):
    """Say that this thread, 0 or 1, wants to enter; return whether the other one does not."""
    put_and_wait(mem, thread, WANTS + thread, 1)
    return not get(mem, thread, WANTS + (ONE - thread))
