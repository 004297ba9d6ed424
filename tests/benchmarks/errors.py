"""What stops a benchmark run."""


class BenchmarkError(Exception):
    """The run cannot give figures; the message says why."""
