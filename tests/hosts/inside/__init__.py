"""Tests that must pass in every host; `tests/hosts/test_hosts.py` runs them in each."""
