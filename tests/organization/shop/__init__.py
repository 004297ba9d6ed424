"""A host project's app: rows that belong to organizations, and views that forget to filter them."""
