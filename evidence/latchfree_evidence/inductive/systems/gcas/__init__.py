"""GCAS and RDCSS (``Gcas.tla``, ``Rdcss.tla``) for any number of threads, I-nodes, descriptors and generations.

`words` has the fields, `client` what the user of the two does, `update` the GCAS, `swap` the RDCSS, `theorem` what is
proved, `invariant` why, `protocol` the system.
"""
