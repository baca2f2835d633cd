"""Names of attributes and variables that no schedule writes: reading them is no step.

``self.lock`` is read in every method and written once, before the threads begin. A read of such a place commutes with
everything, so it is left out of the steps: schedules get shorter. That nobody writes the name is an assumption, made
from the first run on. A run that writes it refutes the assumption: that run is not judged, and the search starts again,
knowing better. A search that comes to its end has seen no write to a name that it left out.
"""

from __future__ import annotations

from collections.abc import Iterable


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
    exposed : set of type
        Classes of the objects whose ``__dict__`` some run has asked for: then their attributes are items of it, too.
    """

    def __init__(self, written: Iterable[str] = ()) -> None:
        self.written: set[str] = set(written)
        self.foreign: dict[tuple[type, str], bool] = {}
        self.plain: set[tuple[type, str]] = set()
        self.methods: set[tuple[type, str]] = set()
        self.generators_are_shared = False
        self.exposed: set[type] = set()
        self._left_out: set[str] = set()
        self._refuted = False

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
            self._refuted = self._refuted or name in self._left_out

    def expose(self, kind: type) -> None:
        """Note that the namespace of an object is used as a dictionary."""
        if kind not in self.exposed:
            self.exposed.add(kind)
            self._refuted = True

    def refute(self) -> None:
        """Note that the run was not what it seemed."""
        self._refuted = True

    def refuted(self) -> bool:
        """Return whether an assumption was refuted since the last question."""
        refuted, self._refuted = self._refuted, False
        return refuted
