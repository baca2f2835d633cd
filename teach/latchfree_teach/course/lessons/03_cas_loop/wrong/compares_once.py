@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    old = load(mem, root)
    if old >= value:
        return old
    while not cas(mem, root, old, value):
        old = load(mem, root)
    return old
