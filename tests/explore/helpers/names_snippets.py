# ruff: noqa: B007, C400, C416, C420
"""Functions about names: what each returns, or raises, must be the same when it is explored."""

total = 0
shadowed = 5


def reset():
    global total, shadowed
    total = 0
    shadowed = 5


def parameter(total=21):
    return total * 2


def local():
    total = 3
    total += 1
    return total


def loop():
    for total in range(3):
        pass
    return total


def comprehension():
    return [total for total in range(3)], {total: 1 for total in "ab"}, list(total for total in "c"), total


def of_lambda():
    return (lambda total: total + 1)(5), (lambda *total, **shadowed: (total, shadowed))(1, k=2)


def inner_parameter():
    def inner(total):
        def innermost():
            return total

        return innermost()

    return inner(8), total


def with_and_except():
    class Manager:
        def __enter__(self):
            return 7

        def __exit__(self, *error):
            return None

    with Manager() as total:
        pass
    try:
        raise KeyError("k")
    except KeyError as shadowed:
        text = repr(shadowed)
    return total, text


def global_in_between():
    total = "cell"

    def outer():
        global total
        total = 9

        def inner():
            return total

        return inner()

    return outer(), total, globals()["total"]


def class_body():
    total = "outer"

    class Holder:
        total = "class"
        own = total

        def method(self):
            return total

    return Holder.own, Holder().method()


def shadow_slice(slice=2):
    return [1, 2, 3][1:slice], [1, 2, 3][slice:], [1, 2, 3][::slice]


def captured_slice():
    slice = 1

    def inner(items):
        del items[:1]
        items[1:] = [9]
        return items[1:], items[slice]

    return inner([1, 2, 3]), slice


def shadow_globals():
    global total
    globals = 3
    total = 4
    total += globals
    return total


def shadow_built_ins(locals=len, dir=sorted):
    def vars(a):
        return a + 1

    return locals([1]), dir("ba"), vars(1)


def names_of_the_function():
    a = b = 1
    while a < 3:
        a += 1
    (c, d), e = (1, 2), [3]
    e[0], c = 1, 2
    return sorted(locals()), sorted(vars()), dir()


def spread_names():
    x = y = 3
    x, [y] = 1, [2]

    def keywords(**names):
        return names

    return sorted(dict(**locals())), sorted(keywords(**locals())), x, y


class Private:
    def __init__(self):
        self.__x = 1

    def all(self):
        global __hidden
        __hidden = 5
        __hidden += 1
        __local = 2

        def inner():
            nonlocal __local
            __local += 1
            return __local, self.__x

        self.__x += 1
        return inner(), __local, __hidden, "_Private__hidden" in globals(), "__hidden" in globals()


def mangling():
    return Private().all()


SNIPPETS = [
    parameter, local, loop, comprehension, of_lambda, inner_parameter, with_and_except, global_in_between,
    class_body, shadow_slice, captured_slice, shadow_globals, shadow_built_ins, names_of_the_function, spread_names,
    mangling,
]  # fmt: skip
