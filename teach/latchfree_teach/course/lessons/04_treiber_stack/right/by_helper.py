@kernel
def swap_top(mem, old, node):
    """Make a node the top one, if the head has not changed."""
    return cas(mem, HEAD, old, node + (old - (old & OFFSET)) + VERSION)


@kernel
def push(mem, root, thread, value):
    """Put a value on top."""
    node = take(mem, thread, value)
    done = False
    while not done:
        old = load(mem, HEAD)
        store(mem, node + NEXT, old & OFFSET)
        done = swap_top(mem, old, node)


@kernel
def pop(mem, root, thread):
    """Take the value on top and return it; return EMPTY if there is none."""
    old = load(mem, HEAD)
    while old & OFFSET != NIL:
        node = old & OFFSET
        if swap_top(mem, old, load(mem, node + NEXT)):
            value = value_of(mem, node)
            give(mem, thread, node)
            return value
        old = load(mem, HEAD)
    return EMPTY
