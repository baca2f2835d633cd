"""Play pages: the reader is the scheduler of compiled code, and tries to break it.

Example: two threads increment a counter by a load and a store. The page shows the counter, what each thread does next,
and the orders of the increments that still explain what they returned. The reader lets thread 0 load, thread 1 load,
and so on; after two changes of thread no order is left, and the page says so.

`walking` stops the explorer in a state; `tracker` keeps all linearizations; `growing` finds the states, `merging` makes
those with one future one; `par` counts changes of threads; `painters` draw memory; `document` and `page` make the page.
"""
