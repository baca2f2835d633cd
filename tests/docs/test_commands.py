"""Every command of the pages runs, and prints what the page says; the commands in the text have these options."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, Shell, agree, blocks, plain, play, prose, title

#: A command in a block that is no console session.
COMMAND = re.compile(r"^\s*(?:\$ )?(?:latchfree|pip|python|pytest) [^=({]*$", re.MULTILINE)


def consoles(page: Path, *, slow: bool) -> bool:
    """Whether a page has console sessions that run."""
    return any(
        each.kind == "console" and not each.left_out and not each.server and each.slow == slow for each in blocks(page)
    )


@pytest.mark.parametrize("page", [p for p in PAGES if consoles(p, slow=False)], ids=title)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    wrong = play(page, tmp_path, slow=False)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if consoles(p, slow=True)], ids=title)
def test_slow_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    wrong = play(page, tmp_path, slow=True)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.servers
@pytest.mark.parametrize("page", [p for p in PAGES if any(each.server for each in blocks(p))], ids=title)
def test_commands_that_need_servers_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for program in {each.server for each in blocks(page) if each.server}:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    wrong = play(page, tmp_path, slow=False, servers=True)
    assert not wrong, "\n\n".join(wrong)


def test_the_spin_lock_is_drawn_as_the_page_shows_it(tmp_path: Path) -> None:
    page = ROOT / "docs" / "graphs.md"
    shell = Shell(tmp_path)
    for block in blocks(page):
        if block.file:
            shell.write(block)
    command = next(command for block in blocks(page) if block.kind == "console" for command, _ in block.commands())
    shell.run(command)
    drawn = (shell.folder / "spin_lock.svg").read_text(encoding="utf-8")
    assert drawn == (ROOT / "docs" / "images" / "spin_lock.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_command_is_in_a_console_block(page: Path) -> None:
    """A block with a command is a console session, and one that no test runs says why."""
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.kind == "console":
            assert list(block.commands()), where
        elif block.kind != "python" and not block.left_out and not block.file:
            assert not COMMAND.search(block.text), f"{where}: a command that is not run: {COMMAND.search(block.text)}"
    assert not re.search(r"^(?:    )+(?:\$ )?latchfree ", prose(page), re.MULTILINE), (
        f"{page.name}: an indented command"
    )


def known(words: list[str]) -> str | None:
    """Return what is wrong with a command of ours: a subcommand or an option that does not exist."""
    from typer.main import get_command

    from latchfree_cli.app import app

    command = get_command(app)
    rest = words[1:]
    while (commands := getattr(command, "commands", None)) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name.isupper():  # stands for any command
            return None
        if not set(name.split("|")) <= set(commands):
            return f"no command {name}"
        command = commands[name.split("|")[0]]
    options = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    given = [word.split("=")[0] for word in rest if word.startswith("-") and word != "-"]
    unknown = [word for word in given if word not in {*options, "--help"}]
    return f"no option {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_commands_in_the_text_exist(page: Path) -> None:
    for span in re.findall(r"`(latchfree [^`]+)`", prose(page)):
        words = shlex.split(span.replace("[", " ").replace("]", " ").replace("\\|", "|"))
        assert known(words) is None, f"{page.name}: `{span}`: {known(words)}"


def test_the_comparison_can_fail() -> None:
    assert agree(["a", "...", "c 1.5 s"], ["a", "b", "b", "c 2.25 s"])
    assert agree(["..."], [])
    assert not agree(["a", "...", "c"], ["a", "b"])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["6 histories"], ["5 histories"])
    assert plain("│25   │ load [1154] 0  gcas.py:58") == "│#│load [#] gcas.py:#"
