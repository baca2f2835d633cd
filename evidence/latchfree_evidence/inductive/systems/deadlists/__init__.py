"""Deadlists (``Deadlists.tla``) for any number of threads, slots, nodes and generations: no snapshot loses a node.

The client is the most general one: a thread takes snapshots and drops them, and unlinks nodes, in any order and as
often as it likes. A node was made for a generation, its birth, and dies in one that is not beyond that of the root.
A snapshot of generation s sees a node if ``birth <= s < death``. What has gone to the epochs no snapshot sees
(`unseen`), and what is on a list the snapshot of that list sees (`exact`).

Why: a snapshot is registered before the root moves, so a search finds all that are older than the death (`searched`),
and what it found once stays the newest (`known`). A slot is given to other snapshots meanwhile, but never to an older
one, and nodes move to older lists only; so a head that is the same is that of the snapshot found (`aimed`). And what is
on a list is there for every snapshot that sees it (`kept`).

No address is used twice here: that those who may hold one are waited for is the matter of `Epochs`. So a block stands
for its node.
"""
