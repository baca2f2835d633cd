"""The compiled code of the search by dequeues."""
