@kernel
def changed(mem, thread, slot, key, value):
    """Return what a slot becomes when a key is put into it."""
    if slot == NOTHING or key_of(slot) == key:
        return entry(key, value)
    return below(mem, thread, slot, key, value)


@kernel
def try_put(mem, inode, level, thread, key, value):
    """Try to store a value below an I-node; return whether it was stored."""
    cnode = load(mem, inode)
    k = digit(key, level)
    slot = slot_of(mem, cnode, k)
    if is_child(slot):
        lower = load(mem, inode_of(slot))
        k = digit(key, level + 1)
        new = changed(mem, thread, slot_of(mem, lower, k), key, value)
        return cas(mem, inode_of(slot), lower, copy(mem, thread, lower, k, new))
    return cas(mem, inode, cnode, copy(mem, thread, cnode, k, changed(mem, thread, slot, key, value)))


@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    while not try_put(mem, root, 0, thread, key, value):
        pass
