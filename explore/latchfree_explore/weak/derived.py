"""What follows from a graph: release sequences, synchronizes-with, happens-before, and the order of seq_cst events.

Example: in message passing, the store of y releases and the load of y acquires. If the load reads that store, the
store *synchronizes with* the load, and the store of x, before it in its thread, *happens before* the load of x, after
it.

The definitions are those of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11,
PLDI 2017), with ``F``, ``R``, ``W`` for fences, reads and writes, ``r?`` for no step or one, ``;`` for one
step after another. A read-modify-write is one event here and two there, which changes none of the relations between
different accesses: both halves have the same neighbours in ``po``, and atomicity leaves nothing between the halves.

- ``rs = [W];(po on the same word)?;[W, relaxed or stronger];(rf;[update])*``: a release sequence. Later stores of the
  same thread belong to the sequence, as in C++11; C++20 took those out.
- ``sw = [release];([F];po)?;rs;rf;[R, relaxed or stronger];(po;[F])?;[acquire]``
- ``hb = (po or sw)+``
- ``eco = (rf or mo or rb)+``, extended coherence order.
- ``scb = po or (po to another word);hb;(po to another word) or (hb on the same word) or mo or rb``
- ``psc_F = [sc F];(hb or hb;eco;hb);[sc F]``
- ``psc = ([sc] or [sc F];hb?);scb;([sc] or hb?;[sc F])  or  psc_F``
"""

from __future__ import annotations

from functools import cached_property

from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.relations import (
    Relation,
    between,
    closure,
    compose,
    identity,
    reflexive,
    union,
)


class Derived:
    """The derived relations of one graph, each computed when first asked for.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def po_same_word(self) -> Relation:
        """Program order between accesses of one word."""
        return tuple(row & same for row, same in zip(self.graph.po, self.graph.same_word, strict=True))

    @cached_property
    def release_sequence(self) -> Relation:
        """From each write to the writes of its release sequence."""
        graph = self.graph
        atomic = graph.stores & ~graph.ordered(("na",))
        own = union(identity(atomic, graph.size), between(graph.stores, self.po_same_word, atomic))
        updated = closure(between(graph.stores, graph.rf, graph.updates))
        return compose(own, reflexive(updated))

    @cached_property
    def releasing(self) -> Relation:
        """From each release event to the writes that publish for it: itself, or what comes after a fence."""
        graph = self.graph
        release = graph.ordered(("rel", "ar", "sc"))
        return union(
            identity(release & graph.stores, graph.size), between(release & graph.fences, graph.po, graph.stores)
        )

    @cached_property
    def acquiring(self) -> Relation:
        """From each read to the acquire events that it serves: itself, or the fences after it."""
        graph = self.graph
        acquire = graph.ordered(("acq", "ar", "sc"))
        return union(
            identity(acquire & graph.reads, graph.size), between(graph.reads, graph.po, acquire & graph.fences)
        )

    @cached_property
    def sw(self) -> Relation:
        """Synchronizes-with."""
        graph = self.graph
        rf = between(graph.stores, graph.rf, ~graph.ordered(("na",)))
        return compose(compose(compose(self.releasing, self.release_sequence), rf), self.acquiring)

    @cached_property
    def hb(self) -> Relation:
        """Happens-before."""
        return closure(union(self.graph.po, self.sw))

    @cached_property
    def eco(self) -> Relation:
        """Extended coherence order."""
        return closure(union(self.graph.rf, self.graph.mo, self.graph.rb))

    @cached_property
    def sc(self) -> int:
        """The seq_cst events, as a mask."""
        return self.graph.ordered(("sc",))

    @cached_property
    def scb(self) -> Relation:
        """What orders seq_cst events, before it is cut down to them."""
        graph, same = self.graph, self.graph.same_word
        elsewhere = tuple(row & ~same[i] for i, row in enumerate(graph.po))
        here = tuple(row & same[i] for i, row in enumerate(self.hb))
        return union(graph.po, compose(compose(elsewhere, self.hb), elsewhere), here, graph.mo, graph.rb)

    @cached_property
    def psc_fences(self) -> Relation:
        """The order in which seq_cst fences have to be, if there is one: ``psc_F``."""
        fences = self.graph.fences & self.sc
        if not fences:
            return (0,) * self.graph.size
        return between(fences, union(self.hb, compose(compose(self.hb, self.eco), self.hb)), fences)

    @cached_property
    def psc(self) -> Relation:
        """The order in which all seq_cst events have to be, if there is one."""
        graph, size = self.graph, self.graph.size
        if not self.sc:
            return (0,) * size
        fences, everything, near = graph.fences & self.sc, (1 << size) - 1, reflexive(self.hb)
        left = union(identity(self.sc, size), between(fences, near, everything))
        right = union(identity(self.sc, size), between(everything, near, fences))
        return union(compose(compose(left, self.scb), right), self.psc_fences)
