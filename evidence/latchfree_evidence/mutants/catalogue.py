"""The code mutants: what each replaces, and what makes it fail.

In the tries of the scenarios keys 0 and 1 share one child of the root and keys 2 and 3 another. Those of topics have
numbers: of subscribers, and of the patterns and topics of `latchfree_evidence.targets.topics`. The ring has two cells.
The mutants of sketches are in `of_sketches`.
"""

from __future__ import annotations

from typing import Final

from latchfree_evidence.mutants.mutant import Mutant
from latchfree_evidence.mutants.of_sketches import OF_SKETCHES

_PAIRS: Final = "keys: pairs"
_ONE_CHILD: Final = "init: put(0, 1); put(1, 1)"
_TWO_CHILDREN: Final = f"{_ONE_CHILD}; put(2, 1); put(3, 1)"
_OLD_AND_NEW_CHILD: Final = f"{_ONE_CHILD}; put(2, 1); snapshot(); put(3, 1)"

#: Patterns 1 and 3 are a/b and +/b: the first twice, so that both are in the C-node of END.
_TWO_OF_ONE: Final = "init: subscribe(1, 1); subscribe(1, 2)"
#: Branches a and + are there already, and stay; one of subscribers 4 and 5 always is. A match reads a first.
_TORN: Final = (
    "init: subscribe(1, 1); subscribe(2, 2); subscribe(3, 3); subscribe(3, 5); subscribe(3, 6) | match(1) | "
    "subscribe(1, 4); unsubscribe(3, 5)"
)

MUTANTS: Final = {
    mutant.id: mutant
    for mutant in (
        Mutant(
            "S1",
            "Scala 2.12 and 2.13, Workiva",
            "renewing a C-node copies children already renewed; a completed put is lost",
            ("latchfree.ctrie.kernels.mains:renewed",),
            scenario=f"{_OLD_AND_NEW_CHILD} | put(0, 2) | put(2, 2) | after: get(2) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "S2",
            "Scala 2.12, Workiva",
            "an RDCSS is marked committed after the root has moved; a clear is applied twice",
            ("latchfree.ctrie.kernels.gcas:rdcss_complete", "latchfree.ctrie.kernels.gcas:abort_root"),
            scenario="init: put(0, 1) | clear() | put(0, 2) | after: get(0)",
            switches=4,
        ),
        Mutant(
            "A2",
            None,
            "a lookup helps to remove a tomb that is older than a snapshot; it never comes back, even alone",
            ("latchfree.ctrie.kernels.lookup:lookup_helping",),
            scenario="init: put(0, 1); put(2, 1); put(5, 1) | remove(2) | snapshot(); get(0) | keys: tree",
            switches=1,
            failure="endless",
        ),
        Mutant(
            "W1",
            "Workiva",
            "a snapshot rereads the root after it was installed; later writes show up in it",
            ("latchfree.ctrie.kernels.snapshot:freeze",),
            scenario=f"{_TWO_CHILDREN} | snapshot() | put(0, 2); put(2, 2); put(0, 3); put(2, 3) | {_PAIRS}",
            switches=4,
        ),
        Mutant(
            "W2",
            "Workiva",
            "removing from an L-node reports 'absent' when its GCAS failed",
            ("latchfree.ctrie.kernels.remove:remove",),
            scenario="init: put(0, 1); put(1, 1); put(2, 1) | remove(0) | put(1, 2) | keys: list",
            switches=2,
        ),
        Mutant(
            "W3",
            "Workiva",
            "cleaning drops a C-node's generation; the next insert copies live children, and a put is lost",
            ("latchfree.ctrie.kernels.mains:compressed", "latchfree.ctrie.kernels.mains:main_with"),
            scenario=f"{_TWO_CHILDREN} | remove(1); put(2, 2) | put(0, 2) | after: get(2) | {_PAIRS}",
            switches=3,
        ),
        Mutant(
            "W4",
            "Workiva",
            "cleaning resurrects a tomb that is not committed; its removal then fails and reports 'absent'",
            ("latchfree.ctrie.kernels.mains:compressed",),
            scenario=f"{_TWO_CHILDREN} | remove(1) | remove(3) | get(2); size() | {_PAIRS}",
            switches=4,
            workload={"shape": "pairs", "threads": 6, "keys": 24},
        ),
        Mutant(
            "L1a",
            "Workiva",
            "a second put into an L-node adds the key once more; removing it brings back its first value",
            ("latchfree.ctrie.kernels.mains:with_entry",),
            scenario="init: put(0, 1); put(1, 1) | put(0, 2); remove(0); get(0) | keys: list",
            switches=0,
        ),
        Mutant(
            "L1b",
            "Workiva",
            "reading a snapshot passes over T-nodes; a key that is there is missing",
            ("latchfree.ctrie.kernels.scan:next_slot",),
            scenario=f"{_ONE_CHILD} | remove(1) | size() | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "N1",
            "textbook",
            "compare-and-swap without I-nodes; an insert below a C-node that is being copied is lost",
            ("latchfree.ctrie.kernels.mains:inserted",),
            scenario=f"{_ONE_CHILD} | put(2, 1) | put(0, 2) | after: get(0) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "N2",
            "textbook",
            "contraction without T-nodes; an insert below a node that is being unlinked is lost",
            ("latchfree.ctrie.kernels.mains:removed_contracted", "latchfree.ctrie.kernels.remove:remove"),
            scenario=f"{_ONE_CHILD} | remove(1) | put(1, 2) | after: get(1) | {_PAIRS}",
            switches=2,
        ),
        Mutant(
            "N4",
            "textbook",
            "a put answers the value it saw first, not the one it has replaced",
            ("latchfree.ctrie.kernels.insert:insert",),
            scenario="init: put(0, 1) | put(0, 2) | put(0, 3)",
            switches=2,
        ),
        Mutant(
            "N3",
            "textbook",
            "a retired node is free at once; a thread that still reads the node reads another node's words",
            ("latchfree.arena.kernels.epochs:retire",),
            frees=True,
        ),
        Mutant(
            "R1",
            None,
            "a snapshot is registered after its RDCSS has committed; nodes that it reads are freed meanwhile",
            ("latchfree.ctrie.kernels.snapshot:freeze",),
            frees=True,
        ),
        Mutant(
            "R4",
            None,
            "the new nodes of a failed update are free at once; a thread that has seen them reads freed memory",
            ("latchfree.arena.kernels.allocator:abandon",),
            frees=True,
        ),
        Mutant(
            "R21",
            None,
            "who takes the idle snapshot does not ask whether it is current; a put that is done is not in it",
            ("latchfree.ctrie.kernels.idle:take_idle",),
            scenario="init: snapshot() | snapshot() | put(0, 1); snapshot() | keys: flat",
            switches=4,
            target="idle",
            frees=True,
        ),
        Mutant(
            "R22",
            None,
            "who parks a snapshot does not look again; an old one stays idle and keeps memory",
            ("latchfree.ctrie.kernels.idle:give",),
            scenario="init: snapshot() | snapshot() | put(0, 1) | after: stale() | keys: flat",
            switches=2,
            target="idle",
            frees=True,
        ),
        Mutant(
            "R23",
            None,
            "an update does not drop the idle snapshot; an old one keeps memory",
            ("latchfree.ctrie.kernels.idle:unpark",),
            scenario="snapshot() | put(0, 1) | after: stale() | keys: flat",
            switches=1,
            target="idle",
            frees=True,
        ),
        Mutant(
            "R8",
            None,
            "a node is free one epoch after it was retired; a thread that still reads it reads another one's words",
            ("latchfree.arena.kernels.epochs:_is_due",),
            scenario="init: write(1) | read() | write(2); tick(); write(3)",
            switches=2,
            target="epochs",
        ),
        Mutant(
            "R9",
            None,
            "a node is retired in the epoch that is pinned, not in that after the unlinking; it is free too early",
            ("latchfree.arena.kernels.epochs:retire",),
            scenario="init: write(1) | read() | write(2); tick(); write(3) | tick()",
            switches=4,
            target="epochs",
        ),
        Mutant(
            "R10",
            None,
            "the pin of the first participant is not looked at; a node that it holds is freed",
            ("latchfree.arena.kernels.epochs:try_advance",),
            scenario="init: write(1) | read() | write(2); tick(); tick(); write(3)",
            switches=2,
            target="epochs",
        ),
        Mutant(
            "F1",
            "textbook",
            "the head of a shared free list has no version (ABA); a batch that is in use is taken once more",
            ("latchfree.arena.kernels.freelists:refill",),
            scenario="init: push(1); push(2) | pop() | pop(); pop(); push(2) | after: pop()",
            switches=2,
            target="free-list",
        ),
        Mutant(
            "C1",
            "CS-trie",
            "detaching a tomb, the CAS expects a main read after the copy was made; a subscription is lost",
            ("latchfree.topics.concurrent.kernels.change:clean",),
            scenario=f"{_TWO_OF_ONE} | unsubscribe(1, 2) | subscribe(2, 3) | after: snapshot()",
            switches=2,
            target="topic-trie",
        ),
        Mutant(
            "C1b",
            "CS-trie",
            "an I-node leaves without a tomb; a subscription below the I-node meanwhile is lost",
            (
                "latchfree.topics.concurrent.kernels.levels:without",
                "latchfree.topics.concurrent.kernels.change:unsubscribe",
            ),
            scenario=f"{_TWO_OF_ONE} | unsubscribe(1, 2) | subscribe(1, 3) | after: snapshot()",
            switches=2,
            target="topic-trie",
        ),
        Mutant(
            "C2",
            "CS-trie",
            "a branch that has subscribers keeps a tomb; a thread that goes there never comes back, even alone",
            ("latchfree.topics.concurrent.kernels.change:clean",),
            scenario="init: subscribe(0, 0); subscribe(1, 1); subscribe(1, 2) | unsubscribe(1, 2); subscribe(1, 3)",
            switches=0,
            target="topic-trie",
            failure="endless",
        ),
        Mutant(
            "C3",
            "CS-trie",
            "a match does not validate; it sees neither of two patterns, one of which is always there",
            ("latchfree.topics.concurrent.kernels.match:holds",),
            scenario=_TORN,
            switches=2,
            target="topic-trie",
        ),
        Mutant(
            "V1",
            None,
            "a match validates the root's main only",
            ("latchfree.topics.concurrent.kernels.match:holds",),
            scenario=_TORN,
            switches=3,
            target="topic-trie",
        ),
        Mutant(
            "Q1",
            "Workiva",
            "a put that loses the race for a position says that the queue is full",
            ("latchfree.streams.kernels.ring:put_once",),
            scenario="enqueue(1) | enqueue(2)",
            switches=2,
            target="ring",
        ),
        Mutant(
            "Q2",
            None,
            "an unpublished write: a put passes the turn before it has written; a get reads what was there before",
            ("latchfree.streams.kernels.ring:fill",),
            scenario="enqueue(1) | dequeue()",
            switches=2,
            target="ring",
        ),
        Mutant(
            "Q3",
            None,
            "a get passes the turn before it has read; it reads the value of the next round",
            ("latchfree.streams.kernels.ring:drain",),
            scenario="init: enqueue(8); enqueue(9) | dequeue() | enqueue(1)",
            switches=2,
            target="ring",
        ),
        Mutant(
            "Q4",
            None,
            "a position is claimed by a plain write; two puts may have it, and one of them is lost",
            ("latchfree.streams.kernels.ring:claim",),
            scenario="enqueue(1) | enqueue(2) | after: dequeue(); dequeue()",
            switches=2,
            target="ring",
        ),
        Mutant(
            "Q5",
            "Vyukov",
            "judged as a strict queue: a get says empty although a put has returned",
            ("latchfree.streams.kernels.ring:finds_empty",),
            scenario="enqueue(1) | enqueue(2); dequeue()",
            switches=2,
            target="ring",
        ),
        *OF_SKETCHES,
        Mutant(
            "T1",
            None,
            "the recorder: an operation's return ticket is taken before the operation; correct runs look wrong",
            ("latchfree_evidence.tickets:invoked", "latchfree_evidence.tickets:returned"),
            folder="stress",
        ),
    )
}
