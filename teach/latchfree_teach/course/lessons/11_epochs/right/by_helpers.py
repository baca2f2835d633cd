@kernel
def pin(mem, thread):
    """Say which epoch this thread has seen."""
    store(mem, PINS + thread, load(mem, EPOCH))


@kernel
def unpin(mem, thread):
    """Say that this thread holds no node."""
    store(mem, PINS + thread, NOT_PINNED)


@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says."""
    pin(mem, thread)
    node = load(mem, POINTER)
    value = load(mem, node)
    unpin(mem, thread)
    return value


@kernel
def write(mem, root, thread, value):
    """Put a new node in place of the one that POINTER says; the writer is pinned, too."""
    pin(mem, thread)
    old = exchange(mem, POINTER, new_node(mem, thread, value))
    retire(mem, thread, old, load(mem, EPOCH))
    unpin(mem, thread)
    try_advance(mem)
    free_until(mem, thread, load(mem, EPOCH) - TWO)
