"""What holds inside every host; `tests/hosts/test_hosts.py` runs this once in each."""
