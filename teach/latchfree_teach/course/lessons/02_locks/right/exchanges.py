@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    while exchange(mem, root, HELD) != FREE:
        pause(mem)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    return exchange(mem, root, HELD) == FREE


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    store(mem, root, FREE)
