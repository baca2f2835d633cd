@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    if cas(mem, root, FREE, HELD):
        return
    while load(mem, root) != FREE:
        pause(mem)
    store(mem, root, HELD)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    return cas(mem, root, FREE, HELD)


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    store(mem, root, FREE)
