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
    "too large": "There are far more schedules than a right answer has: look for accesses that do not help.",
}


def hint_of(lesson: Lesson, graded: Graded) -> str:
    """Return what to think about next."""
    if graded.mistake:
        return lesson.mistakes[graded.mistake]["hint"].strip()
    kind = graded.failed[0].kind if graded.failed else graded.status
    return GENERAL.get(kind, GENERAL.get(graded.status, ""))
