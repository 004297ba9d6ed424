"""A project that moves from another package to this service, in three stages, each in a process of
its own: `python -m tests.compat.moving.STAGE`."""
