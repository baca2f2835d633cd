"""Sequential models of the structures under test, and the driver of the TLC model checker."""
