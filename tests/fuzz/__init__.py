"""Parsers and routes with generated input. `python -m tests.fuzz --minutes 10` tries far more."""
