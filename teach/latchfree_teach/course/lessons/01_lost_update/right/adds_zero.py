ZERO = np.uint64(0)


@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    before = fetch_add(mem, root, ONE)
    return before


@kernel
def read(mem, root, thread):
    """Return the count by adding nothing."""
    return fetch_add(mem, root, ZERO)
