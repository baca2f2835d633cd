@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    for _ in range(3):
        if cas(mem, root, FREE, HELD):
            return
        pause(mem)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    return cas(mem, root, FREE, HELD)


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    store(mem, root, FREE)
