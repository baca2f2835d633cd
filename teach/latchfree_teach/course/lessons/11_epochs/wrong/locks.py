LOCK = np.uint64(1000)


@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says."""
    store(mem, PINS + thread, load(mem, EPOCH))
    value = load(mem, load(mem, POINTER))
    store(mem, PINS + thread, NOT_PINNED)
    return value


@kernel
def write(mem, root, thread, value):
    """Put a new node in place of the one that POINTER says, and have the old one freed when nobody can see it."""
    node = new_node(mem, thread, value)
    while not cas(mem, LOCK, ZERO, ONE):
        pause(mem)
    old = load(mem, POINTER)
    store(mem, POINTER, node)
    retire(mem, thread, old, load(mem, EPOCH))
    try_advance(mem)
    free_until(mem, thread, load(mem, EPOCH) - TWO)
    store(mem, LOCK, ZERO)
