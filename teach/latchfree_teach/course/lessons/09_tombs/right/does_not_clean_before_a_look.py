@kernel
def clean(mem, root, thread, key):
    """Replace the child of the root that the key belongs to by what is left in it, if the child is a tomb."""
    again = True
    while again:
        again = False
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, digit(key, 0))
        if is_child(slot):
            main = load(mem, inode_of(slot))
            if is_tomb(main):
                again = not cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), left_in(main)))


@kernel
def remove(mem, root, thread, key):
    """Remove a key and return its value, -1 if there is none; a tomb that lacks the key is an answer, too."""
    while True:
        cnode = load(mem, root)
        slot = slot_of(mem, cnode, digit(key, 0))
        if not is_child(slot):
            if not holds(slot, key):
                return -1
            if cas(mem, root, cnode, copy(mem, thread, cnode, digit(key, 0), NOTHING)):
                return value_of(slot)
            continue
        main = load(mem, inode_of(slot))
        if is_tomb(main):
            if not holds(left_in(main), key):
                return -1
            clean(mem, root, thread, key)
            continue
        found = slot_of(mem, main, digit(key, 1))
        if not holds(found, key):
            return -1
        rest = slot_of(mem, main, ONE - digit(key, 1))
        if cas(mem, inode_of(slot), main, tomb(rest)):
            clean(mem, root, thread, key)
            return value_of(found)
