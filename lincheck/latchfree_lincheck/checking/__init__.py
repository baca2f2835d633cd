"""Check histories for linearizability: one (`checker`), many (`many`), a map's log of compiled threads (`map_log`)."""
