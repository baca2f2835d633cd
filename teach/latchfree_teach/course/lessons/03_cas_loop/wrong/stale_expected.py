@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    old = load(mem, root)
    while old < value and not cas(mem, root, old, value):
        pass
    return old
