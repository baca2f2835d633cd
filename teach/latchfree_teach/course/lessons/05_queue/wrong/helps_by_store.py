@kernel
def enqueue(mem, root, thread, value):
    """Put a value at the end."""
    node = new_node(mem, thread, value)
    while True:
        tail = load(mem, TAIL)
        after = load(mem, tail + NEXT)
        if after != NIL:
            store(mem, TAIL, after)
        elif cas(mem, tail + NEXT, NIL, node):
            store(mem, TAIL, node)
            return


@kernel
def dequeue(mem, root, thread):
    """Take the oldest value and return it; return EMPTY if there is none."""
    while True:
        head = load(mem, HEAD)
        tail = load(mem, TAIL)
        if head == tail:
            after = load(mem, head + NEXT)
            if after == NIL:
                return EMPTY
            store(mem, TAIL, after)
        else:
            after = load(mem, head + NEXT)
            if cas(mem, HEAD, head, after):
                return value_of(mem, after)
