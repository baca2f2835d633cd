@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    while not cas(mem, root + HELD, FREE, HELD):
        pause(mem)
    old = load(mem, root)
    if old < value:
        store(mem, root, value)
    store(mem, root + HELD, FREE)
    return old
