"""A project that moves from another package to this service, in three stages, each in a process of
its own: `python -m tests.compat.moving.STAGE`."""

import gc

# A garbage collection after every 700 objects takes a tenth of the time.
gc.set_threshold(50_000)
