@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    while not cas(mem, root, FREE, HELD):
        pause(mem)


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    while not cas(mem, root, FREE, HELD):
        pause(mem)
    return True


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    store(mem, root, FREE)
