"""Snippets that use the library in ways that show what stands in its place: `SNIPPETS`."""

import copy
import dataclasses
import enum
import functools
import pickle
import queue
import threading
import typing


class LoudList(list):
    def __iter__(self):
        for each in super().__iter__():
            yield each, "loud"


class LoudTuple(tuple):
    __slots__ = ()

    def __iter__(self):
        for each in super().__iter__():
            yield each, "loud"


class Own(list):
    def __iter__(self):
        return self.each()

    def each(self):
        return list.__iter__(self)


def a_list_that_iterates_itself():
    return list(LoudList([1, 2])), [*LoudList([1])], [each[0] for each in LoudList([3])], list(Own([4, 5]))


def a_tuple_that_iterates_itself():
    return list(LoudTuple([1, 2])), sorted(LoudTuple([1]))


def an_iterator_that_goes_on():
    numbers = list.__iter__(LoudList([1, 2, 3]))
    first = next(numbers)
    kept = [numbers]
    return first, list(kept.pop()), list(numbers)


class Answering:
    @functools.cached_property
    def fails(self):
        raise AttributeError("fails")

    def __getattr__(self, name):
        return name


class Failing:
    @functools.cached_property
    def fails(self):
        raise AttributeError("no answer")


class Upper(functools.cached_property):
    def __get__(self, owner, kind=None):
        return super().__get__(owner, kind).upper()


class Texts:
    @Upper
    def text(self):
        return "text"

    @functools.cached_property
    def number(self):
        return len(vars(self))


class Slots:
    __slots__ = ("n",)

    @functools.cached_property
    def number(self):
        return 1


def a_property_whose_error_is_answered():
    return Answering().fails


def a_property_whose_error_is_not_answered():
    return Failing().fails


def a_property_of_a_class_of_its_own():
    texts = Texts()
    return texts.text, texts.text, vars(texts), texts.number, vars(texts)


def a_property_that_cannot_be_kept():
    return Slots().number


class Sized:
    def __init__(self):
        self.asked = []

    def __iter__(self):
        self.asked.append("iter")
        return iter([2, 1])

    def __len__(self):
        self.asked.append("len")
        return 2


class Hinting(Sized):
    __len__ = None

    def __length_hint__(self):
        self.asked.append("hint")
        return 2


def what_is_asked_for_its_length():
    sized = Sized()
    return list(sized), tuple(sized), sorted(sized), sum(sized), set(sized), sized.asked


def what_is_asked_for_a_hint():
    sized = Hinting()
    return list(sized), tuple(sized), sized.asked


def error_of(function):
    try:
        function()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


class Holder:
    def __init__(self, held):
        self.held = held


def locks_that_are_copied():
    made = threading.Lock(), threading.RLock(), threading.Event(), queue.Queue(), queue.SimpleQueue()
    return [error_of(lambda each=each: copy.deepcopy(Holder(each))) for each in made]


def locks_that_are_pickled():
    made = threading.Lock(), threading.RLock()
    return [error_of(lambda each=each: pickle.dumps(Holder(each))) for each in made]


def waits_that_make_no_sense():
    lock, again = threading.Lock(), threading.RLock()
    again.acquire()
    return (
        error_of(lambda: again.acquire(False, 1)),
        error_of(lambda: again.acquire(timeout=-3)),
        error_of(lambda: lock.acquire(timeout=1e12)),
        error_of(lambda: lock.acquire(False, 1)),
        again.acquire(timeout=5),
    )


PATHS = "{0.held.held} {0.held.held:>{1[w]}} {a.held!r:{1[w]}} {{{1[w]}}}"


def fields_of_a_format():
    held = Holder(Holder(3))
    return PATHS.format(held, {"w": 4}, a=Holder("x")), f"{Holder(1).held} {[2][0]:d}"


WRONG = (
    "{} {0.held}", "{0.other}", "{1.held}", "{a.held}", "{0.held", "{0..held}", "{0:{0.held:{0.held:{0.held}}}}",
    "{0[x]}", "{0.held[x]}", "{.held} {.held}",
)  # fmt: skip


def fields_that_are_wrong():
    held = Holder(1)
    return [error_of(lambda text=text: text.format(held)) for text in WRONG]


def classes_of_a_function():
    values = [1, 2]

    class Color(enum.Enum):
        """Colors."""

        RED = values[0]
        BLUE = enum.auto()

    @dataclasses.dataclass
    class Point:
        x: int = values[1]
        rest: list = dataclasses.field(default_factory=list)

    class Named(typing.NamedTuple):
        a: int
        b: int = values[0]

    class Plain:
        first, second = values
        total = 0
        for total in values:
            total += first
        if values:
            size = len(values)

        @property
        def __hidden(self):
            return __class__.__name__

        def shown(self):
            return self.__hidden

    return (
        Color.__doc__, list(Color), Point(), Named(3), Plain().shown(), Plain.total, Plain.size,
        [name for kind in (Color, Point, Named, Plain) for name in vars(kind) if name.startswith("_lf")],
    )  # fmt: skip


SNIPPETS = [
    a_list_that_iterates_itself, a_tuple_that_iterates_itself, an_iterator_that_goes_on,
    a_property_whose_error_is_answered, a_property_whose_error_is_not_answered, a_property_of_a_class_of_its_own,
    a_property_that_cannot_be_kept, what_is_asked_for_its_length, what_is_asked_for_a_hint, locks_that_are_copied,
    locks_that_are_pickled, waits_that_make_no_sense, fields_of_a_format, fields_that_are_wrong, classes_of_a_function,
]  # fmt: skip
