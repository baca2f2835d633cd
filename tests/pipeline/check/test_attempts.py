"""Notes about what a worker died of."""

from latchfree_spark.check.attempts import FATAL, Attempts


def test_a_death_is_noted_against_what_was_being_judged(tmp_path):
    path = tmp_path / "run" / "0"
    first = Attempts(path)
    assert not first.careful
    for death in range(FATAL):
        attempts = Attempts(path)
        assert attempts.careful
        attempts.begin("fine\n")
        attempts.end()
        assert not attempts.fatal("fine\n")
        assert not attempts.fatal("deadly"), death
        attempts.begin("deadly")
    last = Attempts(path)
    assert last.fatal("deadly")
    assert not last.fatal("fine\n")
    last.forget()
    assert not Attempts(path).careful
