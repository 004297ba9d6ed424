"""A dummy of djoser: it has no tables, and the import reads none of its code."""
