"""What may be handed in: every answer of the course; and what may not: whatever reaches beyond atomic accesses."""

import pytest

from latchfree_teach import find_lesson, lessons
from latchfree_teach.grading.syntax import MOST_BYTES, Refused, admit

LESSON = find_lesson("1")
READ = "\n\n@kernel\ndef read(mem, root, thread):\n    return load(mem, root)\n"


def increment(*lines: str, before: str = "", after: str = READ, head: str = "@kernel", args: str = "") -> str:
    """A submission to lesson 1 with these lines in `increment`."""
    body = "".join(f"    {line}\n" for line in lines or ("return fetch_add(mem, root, ONE)",))
    return f"{before}\n{head}\ndef increment(mem, root, thread{args}):\n{body}{after}"


@pytest.mark.parametrize("lesson", [each for each in lessons() if each.kind != "spec"], ids=lambda lesson: lesson.name)
def test_every_answer_of_the_course_is_admitted(lesson):
    for text in (lesson.hole, lesson.solution, *lesson.right.values(), *lesson.wrong.values()):
        program = admit(text, lesson)
        assert {node.name for node in program.own if hasattr(node, "name")} >= set(lesson.holes)


def test_what_is_given_may_be_left_out_or_stand_there_word_for_word():
    whole = LESSON.hole.replace("return count\n", "return fetch_add(mem, root, ONE)\n")
    assert len(admit(whole, LESSON).own) == len(admit(increment(), LESSON).own) == 2


@pytest.mark.parametrize("coding", ["utf-8", "UTF-8", "utf8", "utf_8"])
def test_a_file_may_say_that_it_is_utf_8(coding):
    assert admit(f"# -*- coding: {coding} -*-\n{increment()}", LESSON).own


ATTEMPTS = {
    "import": (increment(before="import os"), "no imports"),
    "import from": (increment(before="from os import system as load"), "no imports"),
    "import in a kernel": (increment("import os", "return 0"), "no imports"),
    "constant that calls": (increment(before='X = exec("import os")'), "exec"),
    "constant of a string": (increment(before='X = "text"'), "whole numbers"),
    "default": (increment(args=", x=open('/etc/passwd')"), "takes"),
    "default of a helper": (increment(before="@kernel\ndef f(x=print()):\n    return x\n"), "no defaults"),
    "star": (increment(before="@kernel\ndef f(*x):\n    return 1\n"), "no defaults, no"),
    "annotation": (increment(before="@kernel\ndef f(x: print()):\n    return x\n"), "annotations"),
    "return annotation": (increment(before="@kernel\ndef f(x) -> print():\n    return x\n"), "annotations"),
    "rebinding kernel": (increment(after=READ + "\nkernel = eval\n"), "kernel is given"),
    "rebinding a target": (increment(after=READ + "\nCOUNTER = ONE\n"), "COUNTER is given"),
    "a function called load": (increment(before="@kernel\ndef load(mem, at):\n    return at\n"), "load is given"),
    "a local called load": (increment("load = ONE", "return load"), "meaning already"),
    "a parameter called cas": (increment(before="@kernel\ndef f(cas):\n    return cas\n"), "meaning already"),
    "dunder": (increment("return ONE.__class__.__mro__[0](7)"), "nothing to call|no attributes|no subscripts"),
    "attribute": (increment("return mem.base"), "no attributes"),
    "attribute of numpy": (increment("return np.load(root)"), "nothing to call"),
    "subscript": (increment("return mem[0]"), "no subscripts"),
    "assigned subscript": (increment("mem[0] = ONE", "return ONE"), "no subscripts|only a name"),
    "lambda": (increment("return (lambda: ONE)()"), "nothing to call|no lambdas"),
    "list": (increment("return [ONE for x in range(3)]"), "ListComp"),
    "f-string": (increment('return f"{ONE}"'), "no strings"),
    "string": (increment("return ONE", '"text"', "return ONE"), "whole numbers"),
    "float": (increment("return 0.5"), "whole numbers"),
    "global": (increment("global ONE", "return ONE"), "Global"),
    "class": (increment(before="class A:\n    pass\n"), "no classes"),
    "with": (increment("with mem:", "    return ONE"), "With"),
    "try": (increment("try:", "    return ONE", "except ONE:", "    return ONE"), "Try"),
    "raise": (increment("raise ONE"), "Raise"),
    "assert": (increment("assert ONE", "return ONE"), "Assert"),
    "delete": (increment("del mem", "return ONE"), "Delete"),
    "walrus": (increment("return (x := ONE)"), "no assignment inside"),
    "unpacking": (increment("a, b = ONE", "return a"), "only a name|Tuple"),
    "power": (increment("return 2 ** 99"), "no powers"),
    "a large number": (increment(f"return {1 << 64}"), "64 bits"),
    "other decorator": (increment(head="@kernel\n@print"), "@kernel"),
    "no decorator": (increment(head=""), "@kernel"),
    "async": (increment(head="@kernel\nasync def f():\n    return 1\n@kernel"), "only functions"),
    "generator": (increment("yield ONE"), "Yield"),
    "nested": (increment("def f():", "    return 1", "return ONE"), "FunctionDef|no functions"),
    "itself": (increment("return increment(mem, root, thread)"), "nothing to call"),
    "a later function": (increment("return read(mem, root, thread)"), "stands above its use"),
    "a later constant": (increment("return LATER", after=READ + "\nLATER = np.uint64(1)\n"), "stands above it"),
    "tuple": (increment("return thread in (1, 2)"), "no tuples"),
    "keyword": (increment("return fetch_add(mem, root, value=ONE)"), "keyword"),
    "plain access": (increment("return peek(mem, root)"), "peek"),
    "getattr": (increment("return getattr(mem, root)"), "getattr"),
    "builtins by name": (increment("return __builtins__"), "__builtins__"),
    "eval in disguise": (increment("return \uff45\uff56\uff41\uff4c(root)"), "eval"),
    "for over a call": (increment("for x in print():", "    pass", "return ONE"), "range|print"),
    "a call at the top": (increment(after=READ + "\nprint(1)\n"), "only functions"),
    "a loop at the top": (increment(after=READ + "\nwhile True:\n    pass\n"), "only functions"),
    "a function twice": (increment(after=READ + READ), "defined already"),
    "a parameter more": (increment(args=", x"), "takes"),
    "nothing": ("", "no function increment"),
    "no Python": ("def (", "line 1"),
    "null bytes": ("a\0b", "null|no Python"),
    "nested deeply": ("X = " + "-" * 30_000 + "1", "deeply"),
    "many parentheses": ("X = " + "(" * 5_000 + ")" * 5_000, "line 1|deeply"),
    "many statements": ("\n".join(f"A{k} = 1" for k in range(3_000)), "too large"),
    "a sum of a thousand": (increment("return " + "+".join(["ONE"] * 1_000)), "deeply"),
    "a break outside a loop": (increment("break", "return ONE"), "line 4: 'break' outside loop"),
    "a continue outside a loop": (increment("continue", "return ONE"), "line 4: 'continue' not properly in loop"),
    "a parameter twice": (increment(before="@kernel\ndef f(x, x):\n    return x\n"), "line 2: duplicate argument"),
    "debug": (increment(before="__debug__ = 1"), "two underscores|__debug__"),
    "the module's name": (increment(before="__name__ = 7"), "two underscores"),
    "the module's builtins": (increment(before="__builtins__ = 0"), "two underscores"),
    "a parameter called __class__": (increment(before="@kernel\ndef f(__class__):\n    return 1\n"), "two underscores"),
    "a name of a kilobyte": (increment(before=f"@kernel\ndef {'a' * 1_000}(x):\n    return x\n"), "80 letters"),
    "a coding that is none": ("# coding: nonsense\n" + increment(), "line 1: the file is UTF-8"),
    "a coding that hides": ("\n# -*- coding: rot13 -*-" + increment(), "line 2: the file is UTF-8"),
    "an address for a memory": (increment("store(np.int64(root), root, ONE)", "return ONE"), "line 4: store takes mem"),
    "a memory that is a constant": (increment("return load(ONE, root)"), "load takes mem"),
    "a memory that has been changed": (increment("mem = np.int64(root)", "return load(mem, root)"), "load takes mem"),
    "another parameter for a memory": (increment("return load(root, root)"), "the memory is mem"),
    "an address through a helper": (
        increment("return f(np.int64(8), root)", before="@kernel\ndef f(m, at):\n    return load(m, at)\n"),
        "line 7: f takes mem",
    ),
    "an address through another name": (
        increment("return X(np.int64(8), root)", before="X = load\n"),
        "load has one name",
    ),
    "an address through two helpers": (
        increment(
            "return g(root, root)",
            before="@kernel\ndef f(m, at):\n    return load(m, at)\n\n@kernel\ndef g(at, m):\n    return f(m, at)\n",
        ),
        "the memory is mem",
    ),
    "a large file": ("#" * (MOST_BYTES + 1), "kB"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_reaches_further_is_refused_with_the_reason(attempt):
    text, why = ATTEMPTS[attempt]
    with pytest.raises(Refused, match=why):
        admit(text, LESSON)


def test_a_refusal_names_the_line():
    with pytest.raises(Refused, match=r"^line 4: "):
        admit("@kernel\ndef increment(mem, root, thread):\n    x = ONE\n    return mem[x]\n" + READ, LESSON)
