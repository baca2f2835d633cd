LOCK = np.uint64(10)


@kernel
def enqueue(mem, root, thread, value):
    """Put a value at the end."""
    node = new_node(mem, thread, value)
    while True:
        tail = load(mem, TAIL)
        after = load(mem, tail + NEXT)
        if after != NIL:
            cas(mem, TAIL, tail, after)
        elif cas(mem, tail + NEXT, NIL, node):
            cas(mem, TAIL, tail, node)
            return


@kernel
def dequeue(mem, root, thread):
    """Take the oldest value and return it; return EMPTY if there is none."""
    while not cas(mem, LOCK, NIL, NEXT):
        pause(mem)
    value = np.int64(EMPTY)
    head = load(mem, HEAD)
    after = load(mem, head + NEXT)
    if after != NIL:
        store(mem, HEAD, after)
        value = value_of(mem, after)
    store(mem, LOCK, NIL)
    return value
