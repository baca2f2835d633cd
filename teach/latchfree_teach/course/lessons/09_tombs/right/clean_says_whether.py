@kernel
def swept(mem, root, thread, key):
    """Clean once; return whether there is nothing left to clean."""
    cnode = load(mem, root)
    slot = slot_of(mem, cnode, digit(key, 0))
    if not is_child(slot):
        return True
    main = load(mem, inode_of(slot))
    if not is_tomb(main):
        return True
    return cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), left_in(main)))


@kernel
def clean(mem, root, thread, key):
    """Replace the child of the root that the key belongs to by what is left in it, if the child is a tomb."""
    while not swept(mem, root, thread, key):
        pass


@kernel
def remove(mem, root, thread, key):
    """Remove a key and return its value, -1 if there is none."""
    while True:
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, digit(key, 0))
        if is_child(slot):
            inode = inode_of(slot)
            main = load(mem, inode)
            if is_tomb(main):
                clean(mem, root, thread, key)
            else:
                slot = slot_of(mem, main, digit(key, 1))
                if not holds(slot, key):
                    return -1
                if cas(mem, inode, main, tomb(slot_of(mem, main, ONE - digit(key, 1)))):
                    clean(mem, root, thread, key)
                    return value_of(slot)
        elif holds(slot, key):
            if cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), NOTHING)):
                return value_of(slot)
        else:
            return -1
