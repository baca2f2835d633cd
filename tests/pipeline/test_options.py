"""The options that all commands on Spark share."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_spark.session import SessionRefused

COMMANDS = {
    "check": ("check", "x.jsonl", "out", "--model", "map"),
    "match": ("match", "-s", "subscriptions.csv", "-m", "messages.csv", "-o", "out"),
    "stream": ("match", "-s", "subscriptions.csv", "-m", "new", "-o", "out", "--stream"),
    "sketch": ("sketch", "messages.csv", "-o", "out"),
}


class Opened(Exception):
    """Raised where a session would open."""


@pytest.fixture(params=COMMANDS)
def command(request, tmp_path, monkeypatch):
    """Run each command up to the place where it opens a session; return the result and what it asked for."""
    monkeypatch.chdir(tmp_path)
    line = '{"history": "a", "process": 0, "f": "get", "arguments": ["x"], "result": null, "invoke": 0, "return": 1}'
    (tmp_path / "x.jsonl").write_text(line + "\n")
    (tmp_path / "subscriptions.csv").write_text("pattern,subscriber\na/+,1\n")
    (tmp_path / "messages.csv").write_text("topic\na/b\n")
    (tmp_path / "new").mkdir()
    asked = []

    def run(*more, error=Opened):
        @contextmanager
        def session(name, *, master, conf):
            asked.append((master, conf))
            raise error("no")
            yield SimpleNamespace()

        monkeypatch.setattr("latchfree_spark.session.spark_session", session)
        result = CliRunner().invoke(app, ["pipeline", *COMMANDS[request.param], *more])
        return result, asked

    return run


def test_settings_reach_spark(command):
    _, asked = command("--master", "yarn", "--conf", "spark.a=1", "--conf", "spark.b=x=y z", "--conf", "spark.c=")
    assert asked == [("yarn", {"spark.a": "1", "spark.b": "x=y z", "spark.c": ""})]


def test_nothing_is_asked_for(command):
    assert command()[1] == [(None, {})]


def test_the_pages_of_spark_by_choice_but_a_setting_wins(command):
    command("--ui")
    _, asked = command("--ui", "--conf", "spark.ui.enabled=false")
    assert [conf["spark.ui.enabled"] for _, conf in asked] == ["true", "false"]


@pytest.mark.parametrize("wrong", ["spark.a", "=1", ""])
def test_a_setting_of_the_wrong_form_is_refused_before_spark_starts(command, wrong):
    result, asked = command("--conf", wrong)
    assert (result.exit_code, asked) == (exits.USAGE, [])
    assert f"--conf {wrong!r}: expected NAME=VALUE" in result.stderr


def test_a_refused_session_is_wrong_usage(command):
    result, _ = command(error=SessionRefused)
    assert result.exit_code == exits.USAGE
    assert "no" in result.stderr
