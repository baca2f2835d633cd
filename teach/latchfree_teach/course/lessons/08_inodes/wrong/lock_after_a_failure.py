LOCK = np.uint64(9)


@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    inode = root
    level = 0
    locked = False
    while True:
        cnode = load(mem, inode)
        k = digit(key, level)
        slot = slot_of(mem, cnode, k)
        if is_child(slot):
            inode = inode_of(slot)
            level = level + 1
            continue
        if slot == NOTHING or key_of(slot) == key:
            new = entry(key, value)
        else:
            new = below(mem, thread, slot, key, value)
        if cas(mem, inode, cnode, copy(mem, thread, cnode, k, new)):
            if locked:
                store(mem, LOCK, NOTHING)
            return
        if not locked:
            while not cas(mem, LOCK, NOTHING, ONE):
                pause(mem)
            locked = True
