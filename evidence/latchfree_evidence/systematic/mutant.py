"""One small change of one kernel: what it is called, how the kernel looks with it, and the difference.

Example: ``ctrie/kernels/gcas.py complete: negate if prev == NIL -> prev != NIL``. The name has no number of a line, so
an edit elsewhere in the file leaves the name as it is.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Mutant:
    """A kernel with one small change.

    Parameters
    ----------
    module, function : str
        The kernel.
    operator : str
        The kind of change.
    before, after : str
        The text that is changed, and what takes its place; "" if nothing does.
    number : int
        Which of several places with the same text it is, from 1.
    line : int
        Where the text is now.
    original : ast.FunctionDef
        The kernel as it is.
    make : callable
        Returns the kernel with the change.
    """

    module: str
    function: str
    operator: str
    before: str
    after: str
    number: int
    line: int
    original: ast.FunctionDef
    make: Callable[[], ast.FunctionDef] = field(compare=False, repr=False)

    @property
    def file(self) -> str:
        """The file, below the folder of the package."""
        return self.module.partition(".")[2].replace(".", "/") + ".py"

    @property
    def name(self) -> str:
        """What it is called, in every version of the file that has this text."""
        again = f" #{self.number}" if self.number > 1 else ""
        change = f"{self.before} -> {self.after}" if self.after else self.before
        return f"{self.file} {self.function}: {self.operator}: {change}{again}"

    def diff(self) -> str:
        """Return the change as a unified diff of the kernel, formatted anew."""
        old, new = (ast.unparse(_bare(tree)).splitlines() for tree in (self.original, self.make()))
        return "\n".join(difflib.unified_diff(old, new, self.file, f"{self.file} (mutant)", lineterm="", n=2))


def _bare(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Return a function without its docstring."""
    body = tree.body[1:] if ast.get_docstring(tree) is not None and len(tree.body) > 1 else tree.body
    return ast.FunctionDef(name=tree.name, args=tree.args, body=body, decorator_list=[], returns=tree.returns, lineno=1)
