"""Settings that are made outside of the program, and whose value counts."""

import pytest

from latchfree_spark.configured import configured, is_loopback
from latchfree_spark.session import chosen_settings

UI, HOST = "spark.ui.enabled", "spark.driver.host"


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch, tmp_path):
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "MASTER", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


@pytest.mark.parametrize(
    "master",
    [
        "local", "local[4]", "local[2,4]", "local-cluster[2,1,512]", "spark://127.0.0.1:7077", "spark://localhost:7077",
        "spark://[::1]:7077", "spark://127.0.0.1:7077,localhost:7078", "sc://127.0.0.1:15002/;user_id=a",
    ],
)  # fmt: skip
def test_masters_on_this_machine(master):
    assert is_loopback(master)


@pytest.mark.parametrize(
    "master",
    [
        "yarn", "k8s://https://127.0.0.1:6443", "spark://10.1.2.3:7077", "spark://head:7077", "spark://127.0.0.1.example:7077",
        "spark://127.0.0.1:7077,head:7077", "spark://[fe80::1]:7077",
    ],
)  # fmt: skip
def test_masters_elsewhere(master):
    """Executors on other hosts cannot call a driver that has told them a loopback address."""
    assert not is_loopback(master)
    assert not {HOST, "spark.driver.bindAddress", UI} & chosen_settings({"spark.master": master}, {}).keys()


def test_on_this_machine_nothing_is_open_to_others():
    settings = chosen_settings({"spark.master": "local[2]"}, {})
    assert settings[HOST] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings[UI] == "false"


def test_the_caller_wins_over_the_environment_and_that_over_us():
    before = {"spark.master": "local", UI: "true", "spark.task.maxFailures": "9", "spark.executor.memory": "1g"}
    settings = chosen_settings(before, {"spark.task.maxFailures": "2", "spark.sql.session.timeZone": "CET"})
    assert settings["spark.task.maxFailures"] == "2"
    assert settings["spark.sql.session.timeZone"] == "CET"
    assert not {UI, "spark.executor.memory"} & settings.keys()


def test_nothing_is_configured():
    assert configured() == {}


def test_the_file_of_defaults(tmp_path):
    text = "# spark.a 0\n\nspark.master spark://head:7077\n spark.b=1 2 \nspark.c : x=y\nspark.d\t\tz\nspark.e\n"
    (tmp_path / "spark-defaults.conf").write_text(text)
    expected = {"spark.master": "spark://head:7077", "spark.b": "1 2", "spark.c": "x=y", "spark.d": "z"}
    assert {name: value for name, value in configured().items() if value} == expected


def test_the_arguments_of_spark_submit_win_over_the_file(monkeypatch, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master yarn\nspark.a 1\nspark.b 1\n")
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS", "--master local[3] --conf 'spark.a=2 3' --jars x.jar --driver-memory=2g -c spark.c=4"
    )  # fmt: skip
    assert configured() == {
        "spark.master": "local[3]", "spark.a": "2 3", "spark.b": "1", "spark.c": "4", "spark.driver.memory": "2g",
    }  # fmt: skip


def test_another_file_of_defaults(monkeypatch, tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.a 1\n")
    (tmp_path / "other.conf").write_text("spark.b 2\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {tmp_path / 'other.conf'} pyspark-shell")
    assert configured() == {"spark.b": "2"}


def test_variables_that_name_a_master(monkeypatch):
    monkeypatch.setenv("MASTER", "local[7]")
    assert configured() == {"spark.master": "local[7]"}
    monkeypatch.setenv("SPARK_REMOTE", "sc://head:15002")
    assert configured() == {"spark.master": "local[7]", "spark.remote": "sc://head:15002"}
