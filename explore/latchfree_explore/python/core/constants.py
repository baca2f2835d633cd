"""Names of attributes and variables that no schedule writes: reading them is no step.

``self.lock`` is read in every method and written once, before the threads begin. A read of such a place commutes with
everything, so it is left out of the steps: schedules get shorter. That nobody writes the name is an assumption, made
from the first run on. A run that writes it refutes the assumption: that run is not judged, and the search starts again,
knowing better. A search that comes to its end has seen no write to a name that it left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

MOST_REFUTATIONS: Final = 1_000


class Unsettled(Exception):
    """Each run does what no run before has done, so that no schedule ever counts."""


class Constants:
    """What is known of all runs so far.

    Parameters
    ----------
    written : iterable of str
        Names that are known to be written.

    Attributes
    ----------
    written : set of str
        Names of attributes and variables that some run wrote.
    foreign : dict
        Whether an operation of a class is code that is not rewritten.
    plain : set of (type, str)
        Attributes that no class of an object has: they are those of the object itself.
    methods : set of (type, str)
        Methods whose body is rewritten. Of both, runs that change a class know nothing: see `Run.forget_classes`.
    generators_are_shared : bool
        Whether some run had a generator resumed by two threads.
    exposed : set of (str, str)
        Module and name of the classes of objects whose ``__dict__`` some run has asked for: then their attributes are
        items of it, too. A thread may make the class anew in each run.
    variables : set of str
        Module and name, as ``module.name``, of the variables that some run wrote from outside, as attributes of the
        module or as items of its namespace: functions do not say that they read them before they are rewritten again.
    recast : set of (str, str)
        Module and name of the classes of objects that got another class, and of those that they got.
    caches : set
        Caches of calls that were emptied once, so that all runs begin alike.
    refutations : int
        How many runs were not what they seemed.
    """

    def __init__(self, written: Iterable[str] = ()) -> None:
        self.written: set[str] = set(written)
        self.foreign: dict[tuple[type, str], bool] = {}
        self.plain: set[tuple[type, str]] = set()
        self.methods: set[tuple[type, str]] = set()
        self.generators_are_shared = False
        self.exposed: set[tuple[str, str]] = set()
        self.variables = {name for name in self.written if "." in name and not name.endswith(".")}
        self.recast: set[tuple[str, str]] = set()
        self.refutations = 0
        self.caches: set[Any] = set()
        self._left_out: set[str] = set()
        self._refuted = False

    def copied(self) -> Constants:
        """Return what is known now; later runs add nothing to it."""
        other = Constants(self.written)
        other.foreign, other.plain, other.methods = dict(self.foreign), set(self.plain), set(self.methods)
        other.generators_are_shared, other.exposed = self.generators_are_shared, set(self.exposed)
        other.refutations, other.caches, other.recast = self.refutations, set(self.caches), set(self.recast)
        other._left_out = set(self._left_out)
        return other

    def constant(self, name: str) -> bool:
        """Return whether nobody has written a name so far; if so, its reading is left out."""
        if name in self.written:
            return False
        self._left_out.add(name)
        return True

    def wrote(self, name: str) -> None:
        """Note that a run writes a name."""
        if name not in self.written:
            self.written.add(name)
            if name in self._left_out:
                self._refuted = True
                self.methods.clear()

    def wrote_variable(self, module: str, name: str) -> None:
        """Note that a run writes a variable of a module from outside."""
        self.wrote(name)
        self.wrote(f"{module}.")
        whole = f"{module}.{name}"
        if whole not in self.variables:
            self.variables.add(whole)
            self.written.add(whole)
            self._refuted = True

    def expose(self, kind: type) -> None:
        """Note that the namespace of an object is used as a dictionary."""
        self.expose_all({(kind.__module__, kind.__qualname__)})

    def expose_all(self, names: set[tuple[str, str]]) -> None:
        """Note that the namespaces of objects of some classes, by module and name, are used as dictionaries."""
        if not names <= self.exposed:
            self.exposed |= names
            self._refuted = True

    def exposes(self, kind: type) -> bool:
        """Return whether the attributes of the objects of a class are items of their ``__dict__``, too."""
        return bool(self.exposed) and (kind.__module__, kind.__qualname__) in self.exposed

    def recasts(self, *kinds: type) -> None:
        """Note that an object gets another class."""
        names = {(kind.__module__, kind.__qualname__) for kind in kinds}
        if not names <= self.recast:
            self.recast |= names
            self._refuted = True
            self.methods.clear()

    def is_recast(self, kind: type) -> bool:
        """Return whether the class of the objects of a class is a place that somebody writes."""
        return bool(self.recast) and (kind.__module__, kind.__qualname__) in self.recast

    def refute(self) -> None:
        """Note that the run was not what it seemed."""
        self._refuted = True

    @property
    def refuting(self) -> bool:
        """Whether the run that goes on, or was the last one, does not count."""
        return self._refuted

    def refuted(self) -> bool:
        """Return whether an assumption was refuted since the last question.

        Raises
        ------
        Unsettled
            If that goes on and on: what the program writes has other names in each run.
        """
        refuted, self._refuted = self._refuted, False
        self.refutations += refuted
        if self.refutations > MOST_REFUTATIONS:
            raise Unsettled(
                f"{MOST_REFUTATIONS:,} runs each did what none before had done; fix: does the program make up names "
                "of attributes, or of classes, in each run?"
            )
        return refuted
