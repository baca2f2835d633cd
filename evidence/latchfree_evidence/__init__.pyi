"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .exploring import explore, replay
from .lemmas import LEMMAS
from .mutants import MUTANTS, Mutant, apply_mutant
from .refinement.bridge.model_replay import replay_model
from .refinement.traces.campaign import validate_traces
from .stress import run_stress
from .stress.result import StressResult
from .symbolic.code import Code, Twin
from .symbolic.lemma import Lemma, Proof, prove

__all__ = [
    "LEMMAS",
    "MUTANTS",
    "Code",
    "Lemma",
    "Mutant",
    "Proof",
    "StressResult",
    "Twin",
    "apply_mutant",
    "explore",
    "prove",
    "replay",
    "replay_model",
    "run_stress",
    "validate_traces",
]
