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
    tail = load(mem, TAIL)
    while True:
        head = load(mem, HEAD)
        if head == tail:
            return EMPTY
        after = load(mem, head + NEXT)
        if after == NIL:
            return EMPTY
        if cas(mem, HEAD, head, after):
            return value_of(mem, after)
