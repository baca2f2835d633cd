@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    while True:
        cnode = load(mem, root)
        k = digit(key, 0)
        slot = slot_of(mem, cnode, k)
        if is_child(slot):
            inode = inode_of(slot)
            child = load(mem, inode)
            cas(mem, inode, child, copy(mem, thread, child, digit(key, 1), entry(key, value)))
            return
        if slot == NOTHING or key_of(slot) == key:
            new = entry(key, value)
        else:
            new = below(mem, thread, slot, key, value)
        if cas(mem, root, cnode, copy(mem, thread, cnode, k, new)):
            return
