@kernel
def take(mem, at):
    """Take the lock if it is free."""
    return cas(mem, at, FREE, HELD)


@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    taken = take(mem, root)
    while not taken:
        pause(mem)
        taken = take(mem, root)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    return take(mem, root)


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    cas(mem, root, HELD, FREE)
