@kernel
def acquire(mem, root, thread):
    """Take the lock; wait while another thread has it."""
    while True:
        while load(mem, root) != FREE:
            pause(mem)
        if cas(mem, root, FREE, HELD):
            return


@kernel
def try_acquire(mem, root, thread):
    """Take the lock if it is free, without waiting; return whether it was."""
    if load(mem, root) != FREE:
        return False
    return cas(mem, root, FREE, HELD)


@kernel
def release(mem, root, thread):
    """Give the lock back."""
    exchange(mem, root, FREE)
