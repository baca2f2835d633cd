@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    inode = root
    level = 0
    cnode = load(mem, inode)
    slot = slot_of(mem, cnode, digit(key, level))
    while is_child(slot):
        inode = inode_of(slot)
        level = level + 1
        cnode = load(mem, inode)
        slot = slot_of(mem, cnode, digit(key, level))
    new = entry(key, value)
    if slot != NOTHING and key_of(slot) != key:
        new = below(mem, thread, slot, key, value)
    while not cas(mem, inode, cnode, copy(mem, thread, cnode, digit(key, level), new)):
        cnode = load(mem, inode)
