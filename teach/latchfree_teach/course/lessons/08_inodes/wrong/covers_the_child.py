@kernel
def put(mem, root, thread, key, value):
    """Store a value under a key."""
    while True:
        cnode = load(mem, root)
        k = digit(key, 0)
        slot = slot_of(mem, cnode, k)
        if slot == NOTHING or is_child(slot) or key_of(slot) == key:
            new = entry(key, value)
        else:
            new = below(mem, thread, slot, key, value)
        if cas(mem, root, cnode, copy(mem, thread, cnode, k, new)):
            return
