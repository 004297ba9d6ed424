"""Side-by-side benchmarks of the example project and a baseline: ``python -m tests.benchmarks``."""
