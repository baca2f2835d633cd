@kernel
def swung(mem, node):
    """Swing POINTER to a node; return the node before."""
    while True:
        old = load(mem, POINTER)
        if cas(mem, POINTER, old, node):
            return old


@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says; a pin that is old news is renewed."""
    epoch = load(mem, EPOCH)
    store(mem, PINS + thread, epoch)
    now = load(mem, EPOCH)
    if now != epoch:
        store(mem, PINS + thread, now)
    value = load(mem, load(mem, POINTER))
    store(mem, PINS + thread, NOT_PINNED)
    return value


@kernel
def write(mem, root, thread, value):
    """Put a new node in place of the one that POINTER says, and have the old one freed when nobody can see it."""
    old = swung(mem, new_node(mem, thread, value))
    epoch = load(mem, EPOCH)
    retire(mem, thread, old, epoch)
    try_advance(mem)
    free_until(mem, thread, epoch - TWO)
