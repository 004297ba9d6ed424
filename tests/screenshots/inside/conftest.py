from tests.pages.inside.conftest import collect_ignore_glob  # noqa: F401
