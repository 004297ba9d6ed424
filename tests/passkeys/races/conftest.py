from tests.races.conftest import _no_floods, crowd, gathered, rounds  # noqa: F401
