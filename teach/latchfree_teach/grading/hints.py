"""The hint for a submission: that of the known mistake, else one for the way in which it fails."""

from __future__ import annotations

from typing import Final

from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.result import Graded

GENERAL: Final = {
    "refused": "An answer consists of kernels and constants, made of the names that the hole begins with.",
    "does not compile": "The kernel is compiled to machine code: words are np.uint64, and every way returns one kind.",
    "out of time": "Look for a loop that reads no shared memory: nothing can end such a loop, and nothing can stop it.",
    "out of memory": "An answer needs no memory of its own.",
    "crashed": "Something went wrong below Python; tell your teacher which file it was.",
    "not linearizable": "Read the schedule row by row. At which row has a thread decided by a word that is old news?",
    "endless": "A thread goes round for ever. Which word would have to change, and who would change it?",
    "deadlock": "Every thread waits. Who should have written the word that they wait for?",
    "astray": "An access hit a word outside the structure: look at how the address is computed.",
    "raised": "A kernel may not raise: look for a division.",
    "not obstruction-free": "A thread that is alone, all others stopped, does not finish: it waits for one of them.",
    "before": "One thread alone fails already, without any other.",
    "wrong verdict": "Judge the history that is shown by hand: is there an order of its operations that fits?",
    "linearizable": "Find the order that explains your own history, and let an operation return earlier to forbid it.",
    "not sequentially consistent": "Look at one thread of your history alone: it must be able to believe what it saw.",
    "no history": "Each begin of a thread needs an end of the same thread before its next begin.",
    "violated": "TLC found a reachable state that should not be. Follow the steps it shows, one by one.",
    "not caught": "Your invariant holds in a system that is wrong: it says too little about the states shown.",
    "other steps": "Compare the last two states shown: may a thread go from the one to the other in one access?",
    "other states": "Your steps lead to other states than they should: some step is missing, or goes elsewhere.",
    "too large": "There are far more schedules than a right answer has: look for accesses that do not help.",
}


SPEC: Final = {
    "out of time": "TLC computes every set that you name and every state that you allow: name smaller ones.",
    "out of memory": "TLC keeps every set that you name and every state that you allow: name smaller ones.",
    "refused": "An answer consists of definitions, each beginning at the left margin; the lines above them are given.",
    "does not compile": "TLC says where it stopped. Often a step leaves out what some variable is afterwards.",
}
"""The hints for a module of TLA+ that differ from those of kernels."""


def hint_of(lesson: Lesson, graded: Graded) -> str:
    """Return what to think about next."""
    if graded.mistake:
        return lesson.mistakes[graded.mistake]["hint"].strip()
    kind = graded.failed[0].kind if graded.failed else graded.status
    if lesson.kind == "spec" and graded.status in SPEC:
        return SPEC[graded.status]
    return GENERAL.get(kind, GENERAL.get(graded.status, ""))
