"""Log files judged from bytes to verdict in compiled code, where every line of a log has the usual form.

Example: the command ``latchfree check`` gives `register.judge_register_log` the bytes of a log of etcd, and gets the
verdict and what is to be told of a violation. Nothing in between is an object of Python.

Invariant: what is decided here is what `formats.usual` and the engine "auto" decide, by the same searches. Everything
that is unusual, from a byte that no pattern knows to a search that takes long, has the answer UNUSUAL.
"""
