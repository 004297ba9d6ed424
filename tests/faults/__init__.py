"""What the service does while a part that it needs is away or broken; `docs/faults.rst`."""
