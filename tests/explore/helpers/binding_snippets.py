# ruff: noqa: B023, F821, F841, PTH118
"""Functions that bind names in every way: what each returns must be the same when it is explored."""

total = 0
shadowed = 5


def reset():
    global total, shadowed, made, Made, caught
    total = 0
    shadowed = 5


def unbound_cell():
    def inner():
        nonlocal x
        x = 1

    try:
        return x
    except UnboundLocalError as error:
        text = str(error), error.__context__
    x = 2
    inner()
    return text, x


def unbound_free():
    def inner():
        return x

    try:
        inner()
    except NameError as error:
        text = type(error).__name__, str(error)
    x = 2
    return text, inner(), x


def deleted_cell():
    x = 1

    def inner():
        return x

    first = inner()
    del x
    try:
        inner()
    except NameError as error:
        return first, str(error)


def deleted_global():
    global total
    total = 1
    del total
    try:
        return total
    except NameError as error:
        text = str(error)
    try:
        del total
    except NameError as error:
        text += str(error)
    total = 0
    return text


def defined_globals():
    global made, Made

    def decorate(value):
        return value

    @decorate
    @decorate
    def made():
        return "made"

    class Made:
        text = "Made"

    return made(), made.__qualname__, Made.text, Made.__qualname__


def caught_global():
    global caught
    try:
        raise ValueError(3)
    except ValueError as caught:
        text = str(caught)
    try:
        return caught
    except NameError as error:
        return text, str(error)


def imported_global():
    global made, Made
    import os.path as made

    text = made.join("a", "b")
    from os import path as made, sep as Made  # noqa: I001

    return text, made.join("a", "b"), Made


def imported_cell():
    def inner():
        return collections.abc.Sized

    import collections.abc

    return inner() is collections.abc.Sized


def walrus_global():
    global total
    found = [total := each for each in range(3)]
    return found, total, (total := 7) + total


def walrus_cell():
    def inner():
        return x

    found = [x := each for each in range(3)]
    return found, inner(), x


def loop_of_globals():
    global total, shadowed
    seen = []
    for total in range(2):
        for shadowed, (total, *rest) in [(1, "abc")]:
            seen.append((total, shadowed, rest))
    return seen, total, shadowed


def late_binding():
    functions = [lambda: i for i in range(3)]
    others = []
    for k in range(2):
        others.append(lambda: (k, i))
    i = "i"
    return [each() for each in functions], [each() for each in others], [each() for each in (lambda: j for j in "ab")]


def matched_globals():
    global total, shadowed
    found = []
    for value in ([1, 2, 3], [4, 0], {"a": 1, "b": 2}, 5, "x"):
        match value:
            case [total, *shadowed] if total == 1:
                found.append((total, shadowed))
            case [0, total] | [total, 0] if total:
                found.append(("either", total))
            case {"a": 1, **total}:
                found.append(total)
            case int() as total:
                found.append(total)
            case shadowed if shadowed == "x":
                found.append(shadowed)
    return found, total, shadowed


def matched_cell():
    def inner():
        return a, rest

    a = rest = 0
    match [1, 2, 3]:
        case [a, *rest] if a > 1:
            pass
        case [b, *_]:
            rest.append(b)
    return inner()


def tuples_of_cells():
    a = b = 0

    def inner():
        nonlocal a, b
        a, b = b + 1, a + 2
        (a, *b) = [a, b]
        return a, b

    return inner(), a, b


def annotations():
    kind = "k"

    class Annotated:
        def set(self, kinds):
            self.x: kind = 1
            kinds[0]: kind = 2
            y: kind = 3
            z: kind  # noqa: F842
            return self.x, kinds, y

    return Annotated().set([0]), kind


def recursive_lambda():
    factorial = lambda n: 1 if n < 2 else n * factorial(n - 1)  # noqa: E731
    return factorial(5)


def deep():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    return down(400)


SNIPPETS = [
    unbound_cell, unbound_free, deleted_cell, deleted_global, defined_globals, caught_global, imported_global,
    imported_cell, walrus_global, walrus_cell, loop_of_globals, late_binding, matched_globals, matched_cell,
    tuples_of_cells, annotations, recursive_lambda, deep,
]  # fmt: skip
