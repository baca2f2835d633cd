@kernel
def push(mem, root, thread, value):
    """Put a value on top."""
    node = take(mem, thread, value)
    while True:
        old = load(mem, HEAD)
        store(mem, node + NEXT, old & OFFSET)
        if cas(mem, HEAD, old, node | ((old & ~OFFSET) + VERSION)):
            return


@kernel
def pop(mem, root, thread):
    """Take the value on top and return it; return EMPTY if there is none."""
    while True:
        old = load(mem, HEAD)
        node = old & OFFSET
        if node == NIL:
            return EMPTY
        below = load(mem, node + NEXT)
        if cas(mem, HEAD, old, below | ((old & ~OFFSET) + VERSION)):
            value = value_of(mem, node)
            return value
