"""``python -m tests.benchmarks.matrix``: this project and its peers, endpoint by endpoint."""
