"""The snippets of the README and of the docs."""
