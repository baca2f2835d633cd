def is_full(state):
    """Return whether there is something in the place."""
    return state != NOTHING


def result(state, f, value):
    """Return what an operation returns in a state: True or False for PUT, the value or NOTHING for TAKE."""
    return not is_full(state) if f == PUT else state


def after(state, f, value):
    """Return the state after the operation; a state is the value in the place, or NOTHING."""
    if f == PUT and not is_full(state):
        return value
    if f == PUT:
        return state
    return NOTHING


def linearizable(number):
    """Return whether a history of the page, 1 to 10, is linearizable."""
    if number % 2 == 1:
        return number != 3
    return number == 2 or number == 6


def history():
    """Five operations, two of which overlap."""
    begin(0, PUT, 1)
    begin(1, TAKE, 0)
    end(1, 0)
    end(0, True)
    begin(1, TAKE, 0)
    end(1, 0)
    begin(0, TAKE, 0)
    end(0, 1)
    begin(0, TAKE, 0)
    end(0, 0)
