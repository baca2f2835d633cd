@kernel
def increment(mem, root, thread):
    """Add one to the count; return the count before."""
    for _ in range(3):
        count = load(mem, root)
        if cas(mem, root, count, count + ONE):
            return count
    return count


@kernel
def read(mem, root, thread):
    """Return the count."""
    return load(mem, root)
