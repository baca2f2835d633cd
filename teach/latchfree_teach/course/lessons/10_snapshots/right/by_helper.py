@kernel
def decide(mem, inode, node, prev):
    """Try to decide an undecided node."""
    if root_of(mem) == inode:
        return cas(mem, node, prev, NIL)
    return cas(mem, node, prev, prev | FAILED)


@kernel
def commit(mem, inode, node):
    """Decide whether a node that an I-node holds stands; return the node that stands there."""
    prev = prev_of(mem, node)
    while prev != NIL:
        if is_failed(prev):
            cas(mem, inode, node, before(prev))
            node = load(mem, inode)
        else:
            decide(mem, inode, node, prev)
        prev = prev_of(mem, node)
    return node


@kernel
def put(mem, root, thread, key, value):
    """Store a value under key 0 or 1."""
    while True:
        inode = root_of(mem)
        main = main_of(mem, inode)
        node = copy(mem, thread, main, key, value)
        if not cas(mem, inode, main, node):
            continue
        commit(mem, inode, node)
        if not is_failed(prev_of(mem, node)):
            return
