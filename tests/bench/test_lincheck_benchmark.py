"""The benchmark of the checker: what is said where Porcupine cannot run, and that a disagreement is not passed over."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from judging import figure
from judging.recorded import record
from peers import Unavailable, porcupine


def test_without_go_or_its_source(monkeypatch, tmp_path):
    monkeypatch.setattr(porcupine.shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match="no go on PATH: apt-get install golang-go"):
        porcupine.Porcupine(tmp_path)
    monkeypatch.setattr(porcupine.shutil, "which", lambda name: "/usr/bin/go")
    with pytest.raises(Unavailable, match="give a checkout of github"):
        porcupine.Porcupine(tmp_path)


class Stub:
    def __init__(self, verdict):
        self.verdict = verdict

    def judge(self, histories, model):
        return porcupine.Judged([self.verdict] * len(histories), 3.0, 250)


def test_what_is_said_beside_a_figure(monkeypatch):
    history = record("map", 20, threads=2)
    monkeypatch.setattr(figure, "PORCUPINE", [])
    assert figure.beside([history], "map", ["ok"], 0.5) == ""
    monkeypatch.setattr(figure, "PORCUPINE", [Stub("ok")])
    assert figure.beside([history], "map", ["ok"], 0.5) == "; Porcupine 3 s, 250 MB: 6 times as long"
    monkeypatch.setattr(figure, "PORCUPINE", [Stub("unknown")])
    said = "; Porcupine 3 s, 250 MB, 1 unknown after 60 s: 6 times as long"
    assert figure.beside([history], "map", ["ok"], 0.5) == said
    monkeypatch.setattr(figure, "PORCUPINE", [Stub("violation")])
    with pytest.raises(SystemExit, match="Porcupine and the checker disagree"):
        figure.beside([history], "map", ["ok"], 0.5)
