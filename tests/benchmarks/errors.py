"""Errors that end a benchmark run."""


class BenchmarkError(Exception):
    """The run cannot produce figures; the message says why."""
