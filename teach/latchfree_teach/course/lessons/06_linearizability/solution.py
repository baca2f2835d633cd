def result(state, f, value):
    """Return what an operation returns in a state: True or False for PUT, the value or NOTHING for TAKE."""
    if f == PUT:
        return state == NOTHING
    return state


def after(state, f, value):
    """Return the state after the operation; a state is the value in the place, or NOTHING."""
    if f == PUT and state == NOTHING:
        return value
    return state if f == PUT else NOTHING


def linearizable(number):
    """Return whether a history of the page, 1 to 10, is linearizable."""
    return number != 3 and number != 4 and number != 8 and number != 10


def history():
    """Record at most five operations that are sequentially consistent and not linearizable."""
    begin(0, PUT, 1)
    end(0, True)
    begin(1, TAKE, NOTHING)
    end(1, NOTHING)
