"""Host projects in which authservice must work; `TEST_HOST` selects one for a run of the suite.

Each has a function `change` that edits the default settings of the suite.
"""
