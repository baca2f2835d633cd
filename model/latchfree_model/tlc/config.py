"""Check the names in a configuration before TLC reads it.

Example: a mutant overrides `Renwe` instead of `Renew`. TLC ignores an assignment to a name that the module does not
have, so TLC would check the correct protocol and the mutant would look harmless.
"""

import re
from pathlib import Path

SECTION = re.compile(r"\b(PROPERTY|PROPERTIES)\b|\b[A-Z]{4,}\b")
COMMENT = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
ASSIGNMENT = re.compile(r"(\w+)\s*(?:=|<-)")
IMPORT = re.compile(r"^\s*EXTENDS\s+(\w+(?:\s*,\s*\w+)*)|\bINSTANCE\s+(\w+)", re.MULTILINE)


def temporal_properties(config: Path) -> tuple[str, ...]:
    """Return the names under PROPERTY and PROPERTIES in a configuration."""
    names: list[str] = []
    inside = False
    for word in COMMENT.sub(" ", config.read_text(encoding="utf-8")).split():
        section = SECTION.fullmatch(word)
        if section:
            inside = section[1] is not None
        elif inside:
            names.append(word)
    return tuple(names)


def unknown_assignment(config: Path, module: Path, folders: list[Path]) -> str | None:
    """Return the problem of the first assignment to a name that the module does not have; None if there is none.

    Parameters
    ----------
    config, module : Path
        The configuration and the module.
    folders : list of Path
        Where the modules that it extends or instances are looked for. Those of TLA+ itself are in none of them.
    """
    names = _words(module, folders, set())
    text = COMMENT.sub(_blank, config.read_text(encoding="utf-8"))
    for found in ASSIGNMENT.finditer(text):
        if found[1] not in names:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            return f"{config.name}: line {line}, column {column}: module {module.stem} has no {found[1]}"
    return None


def _blank(comment: re.Match[str]) -> str:
    """Return as many blanks, so that what follows stays where it is."""
    return re.sub(r"[^\n]", " ", comment[0])


def _words(module: Path, folders: list[Path], seen: set[str]) -> set[str]:
    """Return every word of a module and of those that it extends or instances."""
    if module.stem in seen or not module.is_file():
        return set()
    seen.add(module.stem)
    text = COMMENT.sub(" ", module.read_text(encoding="utf-8"))
    words = set(re.findall(r"\w+", text))
    for extended, instanced in IMPORT.findall(text):
        for name in re.split(r"[\s,]+", extended or instanced):
            file = next(
                (path for folder in [module.parent, *folders] if (path := folder / f"{name}.tla").is_file()), None
            )
            words |= _words(file, folders, seen) if file else set()
    return words
