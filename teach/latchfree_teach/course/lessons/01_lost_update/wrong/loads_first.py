@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    count = load(mem, root)
    fetch_add(mem, root, ONE)
    return count


@kernel
def read(mem, root, thread):
    """Return the count."""
    return load(mem, root)
