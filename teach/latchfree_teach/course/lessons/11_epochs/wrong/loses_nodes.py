@kernel
def read(mem, root, thread):
    """Return the value in the node that POINTER says."""
    return load(mem, load(mem, POINTER))


@kernel
def write(mem, root, thread, value):
    """Put a new node in place of the one that POINTER says, and have the old one freed when nobody can see it."""
    store(mem, POINTER, new_node(mem, thread, value))
