"""Projects that the service must be at home in; `TEST_HOST` names one for a run of the suite.

Each has a function `change` that turns the plain settings of the suite into its own.
"""
