@kernel
def clean(mem, root, thread, key):
    """Replace the child of the root that the key belongs to by what is left in it, if the child is a tomb."""
    cnode = load(mem, root)
    k = digit(key, 0)
    slot = slot_of(mem, cnode, k)
    if is_child(slot):
        main = load(mem, inode_of(slot))
        if is_tomb(main):
            cas(mem, root, cnode, copy(mem, thread, cnode, k, left_in(main)))


@kernel
def is_clean(mem, root, key):
    """Return whether the key does not belong to a tomb."""
    slot = slot_of(mem, load(mem, root), digit(key, 0))
    return not is_child(slot) or not is_tomb(load(mem, inode_of(slot)))


@kernel
def remove(mem, root, thread, key):
    """Remove a key and return its value, -1 if there is none."""
    while True:
        cnode = load(mem, root)
        k = digit(key, 0)
        slot = slot_of(mem, cnode, k)
        if not is_child(slot):
            if not holds(slot, key):
                return -1
            if cas(mem, root, cnode, copy(mem, thread, cnode, k, NOTHING)):
                return value_of(slot)
            continue
        inode = inode_of(slot)
        main = load(mem, inode)
        if is_tomb(main):
            clean(mem, root, thread, key)
            continue
        slot = slot_of(mem, main, digit(key, 1))
        if not holds(slot, key):
            return -1
        if cas(mem, inode, main, tomb(slot_of(mem, main, ONE - digit(key, 1)))):
            for _ in range(3):
                if not is_clean(mem, root, key):
                    clean(mem, root, thread, key)
            return value_of(slot)
