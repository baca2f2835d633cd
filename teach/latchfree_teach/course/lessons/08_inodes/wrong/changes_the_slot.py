@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    inode = root
    level = 0
    while True:
        cnode = load(mem, inode)
        k = digit(key, level)
        slot = slot_of(mem, cnode, k)
        if is_child(slot):
            inode = inode_of(slot)
            level = level + 1
            continue
        if slot == NOTHING:
            if cas(mem, inode, cnode, copy(mem, thread, cnode, k, entry(key, value))):
                return
        elif key_of(slot) == key:
            if cas(mem, cnode + k, slot, entry(key, value)):
                return
        elif cas(mem, cnode + k, slot, below(mem, thread, slot, key, value)):
            return
