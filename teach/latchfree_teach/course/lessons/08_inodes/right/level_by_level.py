@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key: one loop for each level."""
    upper = digit(key, 0)
    lower = digit(key, 1)
    slot = NOTHING
    while True:
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, upper)
        if is_child(slot):
            break
        if slot != NOTHING and key_of(slot) != key:
            made = copy(mem, thread, cnode, upper, below(mem, thread, slot, key, value))
        else:
            made = copy(mem, thread, cnode, upper, entry(key, value))
        if cas(mem, root, cnode, made):
            return
    inode = inode_of(slot)
    while True:
        cnode = load(mem, inode)
        if cas(mem, inode, cnode, copy(mem, thread, cnode, lower, entry(key, value))):
            return
