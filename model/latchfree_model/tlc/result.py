"""The result of a run of TLC: a verdict, the size of the state space, and a counterexample.

The verdict is ok only if both the message and the exit code of TLC say so. Any output that is not understood gives the
verdict unknown, with the words of TLC.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from latchfree_model.tlc import messages as tlc
from latchfree_model.tlc.messages import Message
from latchfree_model.tlc.trace import Trace, TraceReader

OnProgress: TypeAlias = Callable[[int, int, int], object]
"""Called with the numbers of distinct states, of generated states and of states on the queue."""

KINDS: Final[Mapping[int, str]] = MappingProxyType({
    tlc.INVARIANT: "invariant",
    tlc.INITIAL_INVARIANT: "invariant",
    tlc.ACTION_PROPERTY: "action property",
    tlc.INITIAL_PROPERTY: "action property",
    tlc.DEADLOCK: "deadlock",
    tlc.TEMPORAL: "temporal",
    tlc.ASSUMPTION: "assumption",
})  # fmt: skip
"""The messages that report a violation."""

PROPERTY = re.compile(r"(?:Invariant|[Pp]roperty|Assumption) (.+?) is (?:violated|false)")
COUNTS = re.compile(r"([\d,]+) states generated.*?, ([\d,]+) distinct states found.*?, ([\d,]+) states left")
RANDOM_STATES = re.compile(r"([\d,]+) states generated")
PROGRESS_DEPTH = re.compile(r"Progress\((\d+)\)")
COVERED = re.compile(r"<(\S+) (line \d+, col \d+ to line \d+, col \d+ of module \w+).*>: (\d+):(\d+)$")
CHATTER = re.compile(
    r"(Parsing file|Semantic processing of module|\*\*\* Abort messages|tla2sany\.|Picked up JAVA_TOOL_OPTIONS"
    r"|Residual stack trace follows|Module definition starting at) ?"
)
HEADINGS: Final = frozenset({2121, 2264})
"""Errors that only announce the trace."""


@dataclass(frozen=True, slots=True)
class TlcResult:
    """The outcome of one run.

    Parameters
    ----------
    verdict : {"ok", "violation", "unknown"}
        Whether everything checked holds in every reachable state.
    reason : str
        Why the verdict is unknown, else empty.
    kind, property : str, optional
        What was violated (``invariant``, ``action property``, ``deadlock``, ``temporal``, ``assumption``) and
        its name. A deadlock's is ``Deadlock``; an assumption's is its place.
    generated, distinct, depth : int, optional
        States generated, distinct states, and the length of the longest shortest path to a state.
    coverage : mapping
        For each action, how many distinct states and how many states it generated (if asked for).
    places : mapping
        For each of these actions, where it stands: ``line 21, col 1 to line 21, col 10 of module Ctrie``.
    trace : Trace, optional
        The counterexample.
    seconds : float
        How long the run took.
    errors : tuple of str
        TLC's own messages about errors.
    violated : tuple of str
        The names of all properties that TLC reported as violated: more than one only with its option ``-continue``.
    """

    verdict: Literal["ok", "violation", "unknown"]
    reason: str = ""
    kind: str | None = None
    property: str | None = None
    generated: int | None = None
    distinct: int | None = None
    depth: int | None = None
    coverage: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    trace: Trace | None = None
    seconds: float = 0.0
    errors: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the result for a JSON file."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "kind": self.kind,
            "property": self.property,
            "generated": self.generated,
            "distinct": self.distinct,
            "depth": self.depth,
            "coverage": {action: list(counts) for action, counts in self.coverage.items()},
            "trace": self.trace.to_json() if self.trace else None,
            "seconds": round(self.seconds, 3),
            "errors": list(self.errors),
        }


class ResultReader:
    """Turns the messages of one run into a `TlcResult`.

    Parameters
    ----------
    properties : sequence of str
        The temporal properties checked: TLC does not say which one is violated, so it is named only if there
        is but one.
    on_progress : callable, optional
        Called at TLC's progress reports.
    """

    def __init__(self, properties: tuple[str, ...] = (), on_progress: OnProgress | None = None) -> None:
        self.properties = properties
        self.on_progress = on_progress
        self.success = False
        self.kind: str | None = None
        self.property: str | None = None
        self.violated: dict[str, None] = {}
        self.counts: tuple[int, int] | None = None
        self.random: int | None = None
        self.depth: int | None = None
        self.coverage: dict[str, tuple[int, int]] = {}
        self.places: dict[str, str] = {}
        self.trace = TraceReader()
        self.errors: list[str] = []
        self.plain: list[str] = []
        self.unreadable: list[str] = []

    def feed(self, message: Message) -> None:
        """Take one message."""
        try:
            self.trace.feed(message)
        except ValueError as error:
            self.unreadable.append(f"TLC's trace could not be read: {error}")
        if message.code == tlc.PLAIN:
            if not CHATTER.match(message.text):
                self.plain.append(message.text)
        elif message.code == tlc.SUCCESS:
            self.success = True
        elif message.code in KINDS:
            self._violation(message)
        elif message.code in (tlc.PROGRESS, tlc.TOTALS):
            self._counts(message)
        elif message.code == tlc.SIMULATED:
            self._random(message)
        elif message.code == tlc.DEPTH:
            self.depth = int(re.sub(r"\D", "", message.text))
        elif message.code == tlc.COVERAGE:
            match = COVERED.match(message.text)
            if match:
                self.coverage[match[1]] = (int(match[3]), int(match[4]))
                self.places[match[1]] = match[2]
        elif message.severity in (1, 2) and message.text and message.code not in HEADINGS:
            if message.code == tlc.PARSE_FAILED:
                self.errors += self.plain
                self.plain = []
            self.errors.append(message.text)

    def _violation(self, message: Message) -> None:
        match = PROPERTY.search(message.text)
        if match:
            self.violated[match[1]] = None
        if self.kind is not None:
            return
        self.kind = KINDS[message.code]
        self.errors.append(message.text.partition("\n")[0])
        if match:
            self.property = match[1]
        elif self.kind == "deadlock":
            self.property = "Deadlock"
        elif len(self.properties) == 1:
            self.property = self.properties[0]

    def _counts(self, message: Message) -> None:
        match = COUNTS.search(message.text)
        if match is None:
            return
        generated, distinct, queue = (int(number.replace(",", "")) for number in match.groups())
        self.counts = (generated, distinct)
        depth = PROGRESS_DEPTH.search(message.text)
        if depth:
            self.depth = int(depth[1])
        if self.on_progress and message.code == tlc.PROGRESS:
            self.on_progress(distinct, generated, queue)

    def _random(self, message: Message) -> None:
        match = RANDOM_STATES.search(message.text)
        if match:
            self.random = int(match[1].replace(",", ""))
            if self.on_progress:
                self.on_progress(0, self.random, 0)

    def simulated(self, seconds: float) -> TlcResult:
        """Return the result of random behaviours whose time is over: ok only if TLC has reported states and no error.

        A thread of TLC may end with an exception while TLC itself goes on to the end of its time.
        """
        problem = " ".join([*self.errors, *self.unreadable, *self.plain])[:300]
        if self.kind is None and self.random and not problem:
            return TlcResult("ok", generated=self.random, seconds=seconds)
        reason = problem or "TLC was stopped before it had reported a state"
        return TlcResult("unknown", reason=f"simulation: {reason}", generated=self.random, seconds=seconds)

    def result(self, exit_code: int, seconds: float, stopped: str = "") -> TlcResult:
        """Return the result of the run, given TLC's exit code or the reason why it was stopped."""
        verdict: Literal["ok", "violation", "unknown"] = "unknown"
        reason = stopped
        if not stopped and self.kind is not None and (exit_code in range(10, 15) or (self.success and exit_code == 0)):
            verdict = "violation"  # with -continue TLC ends with 0, and says that all is well
        elif not stopped and self.success and exit_code == 0:
            verdict = "ok"
        errors = [*self.errors, *self.unreadable]
        if verdict == "unknown" and not stopped:
            errors += self.plain
            first = " ".join(" ".join(errors[:5]).split())[:300] or "no message"
            memory = "; fix: more memory, as JAVA_TOOL_OPTIONS=-Xmx8g" if "OutOfMemoryError" in first else ""
            reason = f"TLC ended with exit code {exit_code}: {first}{memory}"
        generated, distinct = self.counts or (self.random, None)
        return TlcResult(
            verdict=verdict,
            reason=reason,
            kind=self.kind,
            property=self.property,
            generated=generated,
            distinct=distinct,
            depth=self.depth,
            coverage=self.coverage,
            places=self.places,
            trace=self.trace.trace(),
            seconds=seconds,
            errors=tuple(errors),
            violated=tuple(self.violated),
        )
