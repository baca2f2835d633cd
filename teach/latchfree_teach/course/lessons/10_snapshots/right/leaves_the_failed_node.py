@kernel
def commit(mem, inode, node):
    """Decide whether a node stands. A failed one is in a frozen I-node only, so it may stay there."""
    prev = prev_of(mem, node)
    if prev != NIL and not is_failed(prev):
        after = FAILED | prev
        if root_of(mem) == inode:
            after = NIL
        cas(mem, node, prev, after)
        prev = prev_of(mem, node)
    return node if prev == NIL else before(prev)


@kernel
def put(mem, root, thread, key, value):
    """Store a value under key 0 or 1."""
    while True:
        inode = root_of(mem)
        main = main_of(mem, inode)
        node = copy(mem, thread, main, key, value)
        if cas(mem, inode, main, node) and commit(mem, inode, node) == node:
            return
