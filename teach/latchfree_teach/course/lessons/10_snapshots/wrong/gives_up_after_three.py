@kernel
def commit(mem, inode, node):
    """Decide whether a node that an I-node holds stands; return the node that stands there."""
    while True:
        prev = prev_of(mem, node)
        if prev == NIL:
            return node
        if is_failed(prev):
            if cas(mem, inode, node, before(prev)):
                return before(prev)
            node = load(mem, inode)
        elif root_of(mem) == inode:
            cas(mem, node, prev, NIL)
        else:
            cas(mem, node, prev, FAILED | prev)


@kernel
def put(mem, root, thread, key, value):
    """Store a value under key 0 or 1."""
    for _ in range(3):
        inode = root_of(mem)
        main = main_of(mem, inode)
        node = copy(mem, thread, main, key, value)
        if cas(mem, inode, main, node):
            commit(mem, inode, node)
            if prev_of(mem, node) == NIL:
                return
