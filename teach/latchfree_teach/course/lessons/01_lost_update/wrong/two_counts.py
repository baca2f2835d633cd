@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    fetch_add(mem, root + ONE, ONE)
    return fetch_add(mem, root, ONE)


@kernel
def read(mem, root, thread):
    """Return the count."""
    return load(mem, root + ONE)
