@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    while True:
        old = load(mem, root)
        if old > value - HELD or cas(mem, root, old, value):
            return old
