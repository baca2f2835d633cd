@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    for _ in range(3):
        old = load(mem, root)
        if old >= value or cas(mem, root, old, value):
            return old
    return old
