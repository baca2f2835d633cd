@kernel
def end_of(mem, node):
    """Return the last node behind a node, or one that was last a moment ago."""
    after = load(mem, node + NEXT)
    while after != NIL:
        node = after
        after = load(mem, node + NEXT)
    return node


@kernel
def enqueue(mem, root, thread, value):
    """Put a value at the end."""
    node = new_node(mem, thread, value)
    tail = load(mem, TAIL)
    last = end_of(mem, tail)
    while not cas(mem, last + NEXT, NIL, node):
        last = end_of(mem, last)
    cas(mem, TAIL, tail, node)


@kernel
def dequeue(mem, root, thread):
    """Take the oldest value and return it; return EMPTY if there is none."""
    while True:
        head = load(mem, HEAD)
        after = load(mem, head + NEXT)
        if after == NIL:
            return EMPTY
        if cas(mem, HEAD, head, after):
            return value_of(mem, after)
