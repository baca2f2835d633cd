"""Objects that limit: a token bucket."""

from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel


class TokenBucketModel(SequentialModel[int]):
    """``acquire(n) -> whether there were n tokens``, and ``tick()``: a token comes in. The bucket begins full.

    Time is a part of the history: whoever lets time go on records a tick.

    Parameters
    ----------
    burst : int
        How many tokens it holds, at least 1.
    """

    operations = MappingProxyType({"acquire": 1, "tick": 0})
    silent = frozenset({"tick"})
    default = 4

    def __init__(self, burst: int = default) -> None:
        if burst < 1:
            raise ValueError(f"a token bucket holds at least 1 token, not {burst}")
        self.burst = burst
        self.name = "token-bucket" if burst == self.default else f"token-bucket:{burst}"

    def init(self) -> int:
        """Return the full bucket."""
        return self.burst

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return the result that `call` must have, and how many tokens there are next."""
        if call.f == "tick":
            return None, min(self.burst, state + 1)
        wanted = call.arguments[0]
        if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1:
            raise ValueError(f"{call}: tokens are counted, at least 1")
        return wanted <= state, state - wanted if wanted <= state else state

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.result is False

    def reason(self, state: int, call: Call) -> str:
        """Return how many tokens there were."""
        return f"the bucket held {state} of at most {self.burst} tokens"
