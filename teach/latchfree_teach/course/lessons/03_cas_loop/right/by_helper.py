@kernel
def larger(a, b):
    """Return the larger of two words."""
    return a if a > b else b


@kernel
def fetch_max(mem, root, thread, value):
    """Make the word at least `value`; return what it held before."""
    value = np.uint64(value)
    old = load(mem, root)
    while not cas(mem, root, old, larger(old, value)):
        old = load(mem, root)
    return old
