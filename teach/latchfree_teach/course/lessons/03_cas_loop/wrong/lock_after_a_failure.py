@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    old = load(mem, root)
    if old >= value or cas(mem, root, old, value):
        return old
    while not cas(mem, root + HELD, FREE, HELD):
        pause(mem)
    old = load(mem, root)
    while old < value and not cas(mem, root, old, value):
        old = load(mem, root)
    store(mem, root + HELD, FREE)
    return old
