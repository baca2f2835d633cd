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
    epoch = load(mem, EPOCH)
    old = exchange(mem, POINTER, new_node(mem, thread, value))
    retire(mem, thread, old, epoch + ONE)
    try_advance(mem)
    free_until(mem, thread, load(mem, EPOCH) - TWO)
