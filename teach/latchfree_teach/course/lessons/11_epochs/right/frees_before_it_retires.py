@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says."""
    epoch = load(mem, EPOCH)
    store(mem, PINS + thread, epoch)
    node = load(mem, POINTER)
    value = load(mem, node)
    store(mem, PINS + thread, NOT_PINNED)
    return value


@kernel
def write(mem, root, thread, value):
    """Advance and free first: what was retired by earlier writes."""
    try_advance(mem)
    free_until(mem, thread, load(mem, EPOCH) - TWO)
    old = exchange(mem, POINTER, new_node(mem, thread, value))
    retire(mem, thread, old, load(mem, EPOCH))
