"""Seeded bugs of the compiled code: each a known defect of a published implementation, as one replaced function.

Example: the published map copies children that have been copied already and so loses a put. Mutant S1 replaces the
function `renewed` by one that does the same. Every layer of verification must catch S1; a layer that lets S1 through
proves nothing about the real code either.

`catalogue` lists the mutants, `mutant` says what is known of one, `applying` replaces functions. One file a mutant, in
a folder for each structure: the file tells how the bug shows, its digest keys the compiled code, and several mutants
replace the same function.
"""

from latchfree_evidence.mutants.applying import apply_mutant
from latchfree_evidence.mutants.catalogue import MUTANTS
from latchfree_evidence.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant", "apply_mutant"]
