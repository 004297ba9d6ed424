"""The audit log: who did what to whom, when and from where."""
