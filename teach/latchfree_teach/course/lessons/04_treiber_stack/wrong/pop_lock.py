LOCK = np.uint64(2)


@kernel
def push(mem, root, thread, value):
    """Put a value on top."""
    node = take(mem, thread, value)
    while True:
        old = load(mem, HEAD)
        store(mem, node + NEXT, old)
        if cas(mem, HEAD, old, node | NIL):
            return


@kernel
def pop(mem, root, thread):
    """Take the value on top and return it; return EMPTY if there is none."""
    while not cas(mem, LOCK, NIL, VERSION):
        pause(mem)
    value = np.int64(EMPTY)
    while True:
        node = load(mem, HEAD)
        if node == NIL:
            break
        below = load(mem, node + NEXT)
        if cas(mem, HEAD, node, below):
            value = value_of(mem, node)
            give(mem, thread, node)
            break
    store(mem, LOCK, NIL)
    return value
