"""Make a module, and a target, of a lesson's program and the student's functions.

The module is the lesson's statements before the hole, the student's own, and the lesson's statements after it. Each
keeps its file and its lines, so that an error and a schedule name the line of the student's file.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

from latchfree_explore import Target
from latchfree_explore.machine.compiling import code_of
from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.syntax import Program


def module_of(lesson: Lesson, program: Program, file: Path) -> ModuleType:
    """Run the module of an admitted submission.

    Parameters
    ----------
    lesson : Lesson
        The lesson that the submission answers.
    program : Program
        The code of the submission, admitted and compiled.
    file : Path
        Where the submission's text is.
    """
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    given = ModuleType("hole")
    given.__file__ = str(lesson.folder / "hole.py")
    sys.modules[file.stem], sys.modules["hole"] = module, given  # where the lines of a schedule are looked up
    for body, place in ((program.before, given.__file__), (program.own, str(file)), (program.after, given.__file__)):
        code = compile(ast.Module(body, []), place, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    return module


def target_of(lesson: Lesson, program: Program, file: Path) -> Target:
    """Return the target of an admitted submission, every operation of it compiled.

    Raises
    ------
    ValueError
        Naming the function that cannot be compiled, its line, and what is wrong with it.
    """
    target = module_of(lesson, program, file).__dict__[lesson.target]
    assert isinstance(target, Target)
    for name in target.operations:
        code_of(target, name)
    return target
