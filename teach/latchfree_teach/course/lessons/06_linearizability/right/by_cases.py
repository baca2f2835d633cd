def result(state, f, value):
    """Return what an operation returns in a state: True or False for PUT, the value or NOTHING for TAKE."""
    if f == TAKE:
        return state
    return state == NOTHING


def after(state, f, value):
    """Return the state after the operation; a state is the value in the place, or NOTHING."""
    if f == TAKE:
        return NOTHING
    if state == NOTHING:
        return value
    return state


def linearizable(number):
    """Return whether a history of the page, 1 to 10, is linearizable."""
    return number == 1 or number == 2 or 5 <= number <= 7 or number == 9


def history():
    """Three operations: a take that sees too little, after one that has seen it."""
    begin(0, PUT, 5)
    end(0, True)
    begin(1, PUT, 6)
    end(1, True)
    begin(0, TAKE, 0)
    end(0, 5)
