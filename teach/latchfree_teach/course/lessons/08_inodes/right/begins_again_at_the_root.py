@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key; after a failure go down once more from the root."""
    while True:
        inode = root
        level = 0
        cnode = load(mem, inode)
        slot = slot_of(mem, cnode, digit(key, level))
        while is_child(slot):
            inode = inode_of(slot)
            level += 1
            cnode = load(mem, inode)
            slot = slot_of(mem, cnode, digit(key, level))
        new = entry(key, value)
        if slot != NOTHING and key_of(slot) != key:
            new = below(mem, thread, slot, key, value)
        if cas(mem, inode, cnode, copy(mem, thread, cnode, digit(key, level), new)):
            return
