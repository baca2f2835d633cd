"""The specification without `latchfree`: plain Java in any folder, and the paths that an editor gives Java."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from latchfree_model.graph.explore import check_invariant
from latchfree_model.tlc import find_jar, find_java, load_manifest, spec_dir

SPEC = spec_dir()
FOLDERS = (SPEC, SPEC / "mc", SPEC / "mutants")
MODELS = load_manifest(SPEC / "manifest.toml")


def parsed(folder: Path, library: str, *modules: str) -> subprocess.CompletedProcess[str]:
    """Parse modules of a folder as the editor does: from that folder."""
    command = [str(find_java()), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-DTLA-Library={library}"]
    command += ["-cp", str(find_jar()), "tla2sany.SANY", *modules]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_configuration_of_a_model_lies_beside_its_module() -> None:
    assert [model.name for model in MODELS if Path(model.module).parent != Path(model.config).parent] == []


def test_the_command_of_the_readme_runs_in_any_folder(tmp_path: Path) -> None:
    (command,) = re.findall(r"^    (java .*tlc2\.TLC.*)$", (SPEC / "README.md").read_text(), re.MULTILINE)
    shutil.copy(find_jar(), tmp_path / "tla2tools.jar")
    command = command.replace("java ", f"{find_java()} ", 1)
    variables = {"SPEC": str(SPEC), "PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    (model,) = (model for model in MODELS if f"{Path(model.config).name} " in command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f" {model.distinct:,} distinct states found".replace(",", "") in done.stdout.replace(",", "")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_module_parses_with_the_paths_of_the_editor(folder: Path) -> None:
    paths = json.loads((SPEC.parent / ".vscode/settings.json").read_text())["tlaplus.moduleSearchPaths"]
    modules = sorted(file.name for file in folder.glob("*.tla"))
    done = parsed(folder, ":".join(paths), *modules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"Semantic processing of module {Path(module).stem}\n" in done.stdout for module in modules)


def test_without_the_paths_a_module_of_a_model_does_not_parse() -> None:
    assert parsed(SPEC / "mutants", "", "A1.tla").returncode != 0


@pytest.mark.parametrize("name", ["same_key_once", "mutant_s1_fixed", "reclaim_lock_free", "mutant_r16"])
def test_the_words_for_the_reader_can_be_evaluated_in_every_state(name: str) -> None:
    """TLC 2.15 knows no ALIAS, but evaluates the operator; a newer one prints it."""
    (model,) = (model for model in MODELS if model.name == name)
    assert check_invariant(model, "AliasIsThere").verdict == "ok"
    wrong = check_invariant(model, "AliasIsNot")
    assert wrong.verdict == "unknown", "a name that no module has is told"
