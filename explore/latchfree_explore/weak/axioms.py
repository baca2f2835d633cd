"""Four memory models, each as the axioms that an execution graph has to satisfy.

Example, store buffering: both threads store to a word of their own, then load the other's. The graph in which both
loads read the initial values has the cycle ``x = 1 -po-> load y -rb-> y = 1 -po-> load x -rb-> x = 1``. SC forbids
cycles of po, rf, mo and rb, so SC forbids the graph. TSO leaves out the two po edges, which lead from a store to a
load.

**sc**: sequential consistency (Lamport 1979; in this form Shasha and Snir 1988). All accesses take effect one by one,
each thread's in program order.

- *order*: ``po or rf or mo or rb`` is acyclic.

**tso**: x86-TSO (Sewell, Sarkar, Owens, Zappa Nardelli, Myreen, CACM 2010; axioms after Alglave, Maranget,
Tautschnig, TOPLAS 2014). Each processor has a buffer of stores. A store marked seq_cst is compiled to xchg, and every
read-modify-write is locked, even a compare-and-swap that fails. A seq_cst load is a plain mov.

- *coherence*: ``(po on the same word) or rf or mo or rb`` is acyclic.
- *order*: ``ppo or rfe or mo or rb`` is acyclic. ``ppo`` is po without the pairs from an unlocked store to an
  unlocked load; a seq_cst fence between the two is in order with both. ``rfe`` is rf between threads.

**sra**: strong release-acquire (Lahav, Giannarakis, Vafeiadis: Taming Release-Acquire Consistency, POPL 2016). The
axioms of rc11, and the writes of all words fit in one order with happens-before.

- *write order*: ``hb or mo or psc_F`` is acyclic.

The paper has release stores, acquire loads, acquire-release updates and fences, and makes a fence an update of one
word that nothing else uses. For these programs the axiom gives the same graphs: if the axiom holds, its order of the
fences is an order of such updates, and the other way round. For relaxed and seq_cst accesses, of which the paper does
not speak, we take rc11's ``hb`` and ``psc``. (With all of ``psc`` in *write order*, a seq_cst load could not pass an
earlier store of its thread, as a load does on x86.)

**rc11**: repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017).

- *coherence*: ``hb;eco?`` is irreflexive.
- *seq_cst*: ``psc`` is acyclic.
- *no thin air*: ``po or rf`` is acyclic.

All four have *atomicity*: an update comes in mo right after the write that the update read. (The paper of RC11 splits
an update into a read and a write, and says the half of it; the other half, that the update is not before that write,
follows there from coherence.) The relations are defined in `latchfree_explore.weak.graph` and
`latchfree_explore.weak.derived`.

Each model allows every graph that the one before it allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.graph import INITIAL, Graph
from latchfree_explore.weak.relations import Relation, acyclic, compose, irreflexive, union

Model: TypeAlias = Literal["sc", "tso", "sra", "rc11"]

MODELS: Final[tuple[Model, ...]] = get_args(Model)
"""The names, the strongest first."""


class Axiom(NamedTuple):
    """One demand of a model: a relation of the graph is acyclic, or irreflexive.

    Attributes
    ----------
    name : str
    relation : function of Derived to Relation
    holds : function of Relation to bool
        `acyclic` or `irreflexive`.
    """

    name: str
    relation: Callable[[Derived], Relation]
    holds: Callable[[Relation], bool] = acyclic


def communication(derived: Derived) -> Relation:
    """Return rf, mo and rb together."""
    return union(derived.graph.rf, derived.graph.mo, derived.graph.rb)


def interleaved(derived: Derived) -> Relation:
    """Return what the order of an interleaving contains: po, rf, mo, rb."""
    return union(derived.graph.po, communication(derived))


def word_by_word(derived: Derived) -> Relation:
    """Return po on the same word, rf, mo, rb."""
    return union(derived.po_same_word, communication(derived))


def preserved(derived: Derived) -> Relation:
    """Return the pairs of po that a buffer of stores keeps in order."""
    graph = derived.graph
    kept = ~(graph.fences & ~derived.sc)  # a weaker fence is no instruction on x86
    delayed = graph.stores & ~graph.updates & ~derived.sc & ~graph.initial
    early = graph.mask(lambda event: event.kind == "R")
    return tuple(
        (row & ~early if delayed >> i & 1 else row) & kept if kept >> i & 1 else 0 for i, row in enumerate(graph.po)
    )


def buffered(derived: Derived) -> Relation:
    """Return what the order of x86-TSO contains: preserved program order, rf between threads, mo, rb."""
    graph = derived.graph
    rfe = tuple(row & graph.external[i] for i, row in enumerate(graph.rf))
    return union(preserved(derived), rfe, graph.mo, graph.rb)


def coherent(derived: Derived) -> Relation:
    """Return hb, and hb followed by eco."""
    return union(derived.hb, compose(derived.hb, derived.eco))


def caused(derived: Derived) -> Relation:
    """Return po and rf together."""
    return union(derived.graph.po, derived.graph.rf)


def in_one_order(derived: Derived) -> Relation:
    """Return happens-before, mo and the order of seq_cst fences together."""
    return union(derived.hb, derived.graph.mo, derived.psc_fences)


_RC11: Final = (
    Axiom("coherence", coherent, irreflexive),
    Axiom("no thin air", caused),
    Axiom("seq_cst", lambda derived: derived.psc),
)

AXIOMS: Final[dict[Model, tuple[Axiom, ...]]] = {
    "sc": (Axiom("order", interleaved),),
    "tso": (Axiom("coherence", word_by_word), Axiom("order", buffered)),
    "sra": (*_RC11, Axiom("write order", in_one_order)),
    "rc11": _RC11,
}
"""The axioms of each model, atomicity apart."""


def _satisfies(derived: Derived, model: Model) -> bool:
    return derived.graph.atomic and all(axiom.holds(axiom.relation(derived)) for axiom in AXIOMS[model])


def consistent(graph: Graph, model: Model) -> bool:
    """Return whether a memory model allows a graph.

    Parameters
    ----------
    graph : Graph
        A run.
    model : {"sc", "tso", "sra", "rc11"}
        Which one.

    Returns
    -------
    bool
    """
    return _satisfies(Derived(graph), model)


def allowed_by(graph: Graph) -> tuple[Model, ...]:
    """Return the memory models that allow a graph, in the order of `MODELS`.

    Parameters
    ----------
    graph : Graph
        A run.

    Returns
    -------
    tuple of {"sc", "tso", "sra", "rc11"}
    """
    derived = Derived(graph)
    return tuple(model for model in MODELS if _satisfies(derived, model))


def races(graph: Graph) -> list[tuple[int, int]]:
    """Return the data races of a graph: pairs of events, by index.

    Two accesses of one word by different threads race if one of them writes, one of them is plain, and neither
    happens before the other. Initial writes race with nothing.

    Parameters
    ----------
    graph : Graph
        A run.

    Returns
    -------
    list of pairs of int
    """
    hb, writes = Derived(graph).hb, graph.stores
    threads = [i for i, event in enumerate(graph.events) if event.thread != INITIAL and event.word is not None]
    return [
        (i, j)
        for i in threads
        for j in threads
        if i < j
        and graph.same_word[i] >> j & 1
        and graph.external[i] >> j & 1
        and (writes >> i | writes >> j) & 1
        and "na" in (graph.events[i].order, graph.events[j].order)
        and not (hb[i] >> j | hb[j] >> i) & 1
    ]
