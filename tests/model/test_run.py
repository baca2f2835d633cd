"""Real runs of TLC on small modules."""

import _thread
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from latchfree_model.tlc import SpecModel, agree, kill_running, load_manifest, run_model
from latchfree_model.tlc.config import temporal_properties, unknown_assignment

DATA = Path(__file__).parent / "data"
MODELS = {model.name: model for model in load_manifest(DATA / "manifest.toml")}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which a run must leave empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def large() -> SpecModel:
    """A model that takes minutes."""
    return replace(MODELS["atomic"], name="large", config="large.cfg")


@pytest.mark.parametrize("name", MODELS)
def test_models_agree_with_the_manifest(name: str, scratch: Path) -> None:
    before = set(DATA.iterdir())
    result = run_model(MODELS[name])
    assert agree(MODELS[name], result) == [], result
    assert list(scratch.iterdir()) == []
    assert set(DATA.iterdir()) == before


def test_a_run_that_goes_on_after_a_violation_is_no_success() -> None:
    result = run_model(MODELS["lost_update"], options=("-continue",), java_options=("-Xmx64m",))
    assert (result.verdict, result.property, result.violated) == ("violation", "NoLostUpdate", ("NoLostUpdate",))
    assert (result.distinct, result.generated) == (12, 17)


def test_coverage_and_progress() -> None:
    seen: list[tuple[int, int, int]] = []
    result = run_model(MODELS["atomic"], workers=1, coverage=True, on_progress=lambda *counts: seen.append(counts))
    assert result.coverage == {"Read": (5, 6), "Write": (5, 8), "Done": (0, 1)}
    assert seen[-1] == (11, 16, 0)


def test_module_that_does_not_parse() -> None:
    result = run_model(replace(MODELS["atomic"], module="Unparsable.tla"))
    assert result.verdict == "unknown"
    assert "exit code 150" in result.reason
    assert any("line 16, column 21" in error for error in result.errors)


def test_an_assignment_to_a_name_that_is_not_there_is_never_green() -> None:
    result = run_model(replace(MODELS["atomic"], config="constant.cfg"))
    assert result.verdict == "unknown"
    assert result.reason == "constant.cfg: line 4, column 5: module Counter has no Nonsuch"


def test_names_are_looked_for_where_tlc_does(tmp_path: Path) -> None:
    (tmp_path / "mc").mkdir()
    (tmp_path / "Base.tla").write_text("---- MODULE Base ----\nEXTENDS Naturals\nCONSTANT Deep\n====")
    (tmp_path / "Middle.tla").write_text("---- MODULE Middle ----\nB == INSTANCE Base\n\\* Unsaid\n====")
    module, config = tmp_path / "mc" / "Top.tla", tmp_path / "mc" / "top.cfg"
    module.write_text("---- MODULE Top ----\nEXTENDS Naturals, Middle\nMine == 1\n====")
    config.write_text("CONSTANTS (* Other = 3 *) Deep <- Mine\nSPECIFICATION Spec")
    assert unknown_assignment(config, module, [tmp_path]) is None
    config.write_text("CONSTANTS (* Other\n = 3 *) Unsaid = 3")
    assert unknown_assignment(config, module, [tmp_path]) == "top.cfg: line 2, column 9: module Top has no Unsaid"


def test_timeout_is_unknown(scratch: Path) -> None:
    result = run_model(large(), timeout=1.5)
    assert (result.verdict, result.reason) == ("unknown", "timeout: stopped after 1.5 s")
    assert list(scratch.iterdir()) == []


def test_interrupt_stops_java(scratch: Path) -> None:
    timer = threading.Timer(1.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_model(large(), timeout=600)
    timer.join()
    assert list(scratch.iterdir()) == []


def test_kill_running_ends_runs_of_other_threads() -> None:
    results = []
    thread = threading.Thread(target=lambda: results.append(run_model(large(), timeout=600)))
    thread.start()
    while thread.is_alive():
        kill_running()
        time.sleep(0.1)
    assert [result.verdict for result in results] == ["unknown"]


def test_a_run_cancelled_before_it_starts_ends_at_once() -> None:
    cancelled = threading.Event()
    cancelled.set()
    result = run_model(large(), timeout=600, cancelled=cancelled)
    assert (result.verdict, result.reason) == ("unknown", "interrupted")


def test_temporal_properties(tmp_path: Path) -> None:
    config = tmp_path / "a.cfg"
    config.write_text(
        "SPECIFICATION Spec \\* PROPERTY No\nPROPERTIES\n  A B\nINVARIANT C\n(* PROPERTY\n D *)\nPROPERTY E\n"
        "CONSTANT X = 1"
    )
    assert temporal_properties(config) == ("A", "B", "E")


def simulated(seconds: int, **changes: object) -> SpecModel:
    """A model of random behaviours."""
    return replace(MODELS["lost_update"], simulate=seconds, steps=20, distinct=None, depth=None, **changes)  # type: ignore[arg-type]


def test_random_behaviours_find_a_violation_and_depend_on_the_seed() -> None:
    results = [run_model(simulated(90), seed=seed) for seed in (1, 1, 2, 3)]
    assert {(result.verdict, result.property) for result in results} == {("violation", "NoLostUpdate")}
    traces = [result.to_json()["trace"] for result in results]
    assert traces[0] == traces[1]
    assert traces[0] != traces[2] or traces[0] != traces[3]


def test_random_behaviours_that_ran_too_short_are_never_green() -> None:
    result = run_model(replace(MODELS["atomic"], simulate=2, steps=20))
    assert (result.verdict, result.reason) == ("unknown", "simulation: TLC was stopped before it had reported a state")
    result = run_model(replace(MODELS["atomic"], simulate=90, steps=20), timeout=2)
    assert (result.verdict, result.reason) == ("unknown", "timeout: stopped after 2 s")


@pytest.mark.slow
def test_random_behaviours_of_the_stated_time() -> None:
    result = run_model(replace(MODELS["atomic"], simulate=90, steps=20))
    assert (result.verdict, result.reason, result.distinct) == ("ok", "", None)
    assert (result.generated or 0) > 1_000
    assert 90 <= result.seconds < 100
