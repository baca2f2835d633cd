"""The options of a job, and the errors of a job that cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from latchfree_lincheck.criteria import CRITERIA
from latchfree_spark.errors import refuse_counts

LEVELS: Final = ("history", "object", "key")
"""What work may be split by, coarsest first."""

GIANT: Final = 100_000
"""Histories of more operations are judged in parts, if nobody says otherwise."""

LINEARIZABILITY: Final = "linearizability"

JUDGE: Final = "latchfree_spark.check.judge.judging:judge"
"""The function that judges by default."""


PIECES: Final = 1_000_000
"""Chunks or tasks of a job, at most."""

_LONGEST: Final = 10_000_000
"""Seconds for a history, at most."""
_MOST: Final = 2**62

TOLD: Final = 100
"""Problems that an error's text names, at most."""


class BadInput(ValueError):
    """Input that cannot be read; the text names each file, and row group, row or line.

    Parameters
    ----------
    problems : sequence of str
        One line each; the text has the first `TOLD`, and how many more there are.
    also : sequence of str
        Lines that the text has in any case, after these.

    Attributes
    ----------
    problems : tuple of str
        One line each, all of them.
    """

    def __init__(self, problems: Sequence[str], also: Sequence[str] = ()) -> None:
        more = len(problems) - TOLD
        super().__init__("\n".join([*problems[:TOLD], *([f"and {more:,} more"] if more > 0 else []), *also]))
        self.problems = (*problems, *also)


class JobRefused(ValueError):
    """A job that cannot start where it was told to write; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that decide the verdicts of a job: the same inputs and options give the same table.

    Parameters
    ----------
    model : str, optional
        Name of the sequential model; by default what each file implies.
    by : tuple of str
        What a giant may be split by: a beginning of `LEVELS`. Linearizability is local, so by object always; by key
        where the model gives every call one (P-compositionality).
    giant : int
        Histories of more operations are judged apart, in parts.
    timeout : float
        Seconds for each history; what takes longer is "unknown". The only option that depends on the machine.
    budget : int, optional
        Steps of the search for each history; what takes more is "unknown", everywhere the same.
    memory : int
        Bytes of search tables for each history.
    saved : int
        Of each chunk so many failing histories are saved and shrunk; the table has all.
    judge : str
        Who judges, as ``module:function``; see `latchfree_spark.check.judge.judging.judge`.
    join : bool
        One name is one history, in whatever files. By default a history is known by its source and its name, so that a
        second file which counts from h0 again has histories of its own.
    criterion : str
        What is asked of a history: a name of `latchfree_lincheck.criteria.CRITERIA`.
    py_files : tuple of str
        Files with modules of the user's own, each with a digest; see `latchfree_model.models.own_files`.
    """

    model: str | None = None
    by: tuple[str, ...] = LEVELS
    giant: int = GIANT
    timeout: float = 60.0
    budget: int | None = None
    memory: int = 1 << 30
    saved: int = 100
    judge: str = JUDGE
    join: bool = False
    criterion: str = LINEARIZABILITY
    py_files: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"no criterion is called {self.criterion!r}; choose one of {', '.join(CRITERIA)}")
        if self.budget is not None and self.criterion != LINEARIZABILITY:
            raise ValueError(f"a budget is for linearizability; give a timeout with {self.criterion}")
        if not self.by or self.by != LEVELS[: len(self.by)]:
            known = " or ".join(",".join(LEVELS[:n]) for n in range(1, len(LEVELS) + 1))
            raise ValueError(f"work is split by {known}, not by {','.join(self.by)!r}")
        for name, most in (("giant", _MOST), ("timeout", _LONGEST), ("memory", _MOST), ("budget", _MOST)):
            value = getattr(self, name)
            if value is None and name == "budget":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{name} must be a number, not {value!r}")
            if not 0 < value <= most:
                raise ValueError(f"{name} must be above 0 and at most {most:,}, not {value}")

    @property
    def divisible_by(self) -> tuple[str, ...]:
        """What a giant may be split by: the other criteria are not local, or not in the parts of an object."""
        return self.by if self.criterion == LINEARIZABILITY else LEVELS[:1]


def refuse_pieces(**counts: int | None) -> None:
    """Raise an error that names the option for a number of chunks, parts or tasks that no job can have."""
    refuse_counts(PIECES, **counts)


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the workers see it.

    Parameters
    ----------
    options : Options
        What was asked.
    folder : str
        Where work is written until all is done; workers see it at the same path.
    files, formats : tuple of str
        The input files, in the order in which rows count, and their formats.
    sources : tuple of str
        The names of the sources; without any, all histories are of one source without a name.
    chunks : int
        How many pieces the work is cut into.
    hang : float
        Seconds that the judging of a few histories may take before their worker counts as hanging.
    """

    options: Options
    folder: str
    files: tuple[str, ...]
    formats: tuple[str, ...]
    sources: tuple[str, ...] = ()
    chunks: int = 1
    hang: float = 180.0
