@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    return fetch_add(mem, root, ONE)


@kernel
def read(mem, root, thread):
    """Return the count."""
    return load(mem, root)
