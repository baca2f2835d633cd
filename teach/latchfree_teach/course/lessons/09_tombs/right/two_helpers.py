@kernel
def clean(mem, root, thread, key):
    """Replace the child of the root that the key belongs to by what is left in it, if the child is a tomb."""
    while True:
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, digit(key, 0))
        if not is_child(slot):
            return
        main = load(mem, inode_of(slot))
        if not is_tomb(main):
            return
        if cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), left_in(main))):
            return


@kernel
def from_child(mem, inode, main, key):
    """Try to take a key out of a child; return its value, -1 if it is not there, -2 if somebody was faster."""
    slot = slot_of(mem, main, digit(key, 1))
    if not holds(slot, key):
        return -1
    if cas(mem, inode, main, tomb(slot_of(mem, main, ONE - digit(key, 1)))):
        return value_of(slot)
    return -2


@kernel
def remove(mem, root, thread, key):
    """Remove a key and return its value, -1 if there is none."""
    taken = -2
    while taken == -2:
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, digit(key, 0))
        if is_child(slot):
            main = load(mem, inode_of(slot))
            if not is_tomb(main):
                taken = from_child(mem, inode_of(slot), main, key)
            if taken != -1:
                clean(mem, root, thread, key)
        elif not holds(slot, key):
            taken = -1
        elif cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), NOTHING)):
            taken = value_of(slot)
    return taken
