"""The concurrent topic trie: a Ctrie over strings of digits, with matching by validated double collect.

Example: subscription 9 to ``sport/+`` is the string hash(sport), ANY_WORD, END, mix(9).

Digits. A subscription is a string of 64-bit *digits*: one for each word of its pattern (the hash of the word, or one
of two reserved digits for the wildcards), the digit END, and a mix of the subscription's number, which is unique. So
no two strings are equal and no string begins another, even if hashes collide; there are no L-nodes. Two words with one
hash share a place and nothing else: every subscription found is compared with the topic byte by byte.

Nodes. One Ctrie level consumes six bits of a digit, eleven levels a digit. A slot of a C-node holds

- an S-node: the only subscription whose string goes on here, wherever it ends (so a pattern that shares nothing takes
  one node, whatever its length);
- a plain I-node: the next six bits of the same digit;
- a *branch*: an I-node that also carries a digit, and starts the digit after it. It stands for all strings that go on
  with that digit, of which there are at least two. A level of topic words is thus a Ctrie of 64-way C-nodes, and
  so is the set of subscriptions of one pattern, below END: both are split when they grow, not copied.

That is the Ctrie with one addition, the digit of a branch. GCAS, RDCSS, snapshots, generations and reclamation are
those of `latchfree.ctrie`; so all of the trie is one map from strings to subscriptions, linearizable as the Ctrie is.

Subscribe (new S-node s; startgen = root.gen; RESTART rereads the root)
    Descend from the root, reading each main m by GCAS_READ. At the slot for the digit's next six bits:

    - a child of another generation: GCAS(m, renewed(startgen)), reread; failing: RESTART
    - a branch with the digit wanted: go to it, next digit; a plain I-node: go to it, next six bits
    - empty: GCAS(m, m + s)
    - an S-node, or a branch of another digit: GCAS(m, m with both(it, s)), where both is a chain of plain I-nodes and
      branches down to where the two differ (at most 16 branches; where they share more, the chain ends in a C-node
      with the old S-node alone, and the descent goes on from there)
    - m is a T-node: CLEAN(parent, i), RESTART

    LP: the root read of the GCAS that commits s.
Unsubscribe (digits of the pattern, number)
    Descend likewise. Empty slot, an S-node of another number, or a branch of another digit: not subscribed (LP: the
    read of m). Else GCAS(m, contracted(m - s)); then from i upwards, while the main of i is a T-node: CLEAN(parent, i).
contracted(slots)
    No slot: T-node of nothing. One slot: T-node of it, if it is an S-node, or a branch and the C-node is within a
    digit (a branch where a digit starts stays: a digit is never skipped); not at the root. Else: C-node.
CLEAN(parent, i)
    While the main of i is a T-node t, main m of parent is a C-node and its slot is i: GCAS(m, contracted(m with the
    content of t for i)). It gives up when root.gen != startgen or memory is short: a tomb left behind is correct.
    A branch whose only subscription is left thus becomes that subscription, and the parent may follow. Rules that the
    published trie lacks: an I-node leaves only after a T-node was committed in it, which nothing replaces (C1); the
    parent is rewritten, never unlinked by its child, and whatever else it holds stays (C2); every GCAS expects the
    main that its copy was made of (C4); subscriptions are told apart by number (C5).
Match (topic; it allocates nothing, renews nothing, cleans nothing)
    Collect: r = root; from r, for each I-node i reached (a queue): m = GCAS_READ(i), note (i, m); follow the slots for
    the digits wanted at i's position: word, ANY_WORD, ANY_WORDS, or END; below END all. A T-node is a C-node of one
    slot.
    A child of a generation other than r's is frozen (no update can commit in it): the child and all below are read by
    GCAS_READ(READ_ONLY) and not noted.
    Validate: for each noted (i, m): GCAS_READ(i) == m; and root == r. If all of it holds, then at the instant between
    the two passes every noted I-node had its noted main (a main never returns once replaced, and the reader's pin keeps
    it from being reused), so the whole trie held exactly the collected set then: LP. Else collect again (C3).
    After 8 failures: a read-only snapshot, collected without validation; LP: the decision of its descriptor.
    A failure means that an update committed: lock-free.
    In a snapshot of the caller's all is frozen, nothing is noted, and the first collection is the answer.

The spec (TopicTrie.tla) models one C-node for each level, and CAS for GCAS; Ctrie.tla and Reclamation.tla model GCAS,
snapshots and reclamation.
"""
