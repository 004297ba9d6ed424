"""Two web servers and two workers behind HAProxy, with standbys: `python -m tests.machines`."""
