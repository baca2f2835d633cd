FIRST_WRONG = 3


def result(state, f, value):
    """Return what an operation returns in a state: True or False for PUT, the value or NOTHING for TAKE."""
    return state if f == TAKE else not state


def after(state, f, value):
    """Return the state after the operation; a state is the value in the place, or NOTHING."""
    return NOTHING if f == TAKE else state or value


def linearizable(number):
    """Return whether a history of the page, 1 to 10, is linearizable."""
    if number == FIRST_WRONG or number == FIRST_WRONG + 1:
        return False
    return number != 8 and number < 10


def history():
    """Four operations of two threads, one of which lives in the past."""
    begin(0, PUT, 1)
    end(0, True)
    begin(1, TAKE, NOTHING)
    end(1, NOTHING)
    begin(1, PUT, 2)
    end(1, False)
    begin(1, TAKE, NOTHING)
    end(1, 1)
