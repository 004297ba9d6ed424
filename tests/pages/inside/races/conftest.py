from tests.pages.inside.conftest import collect_ignore_glob
from tests.races.conftest import _no_floods, crowd, gathered

__all__ = ["_no_floods", "collect_ignore_glob", "crowd", "gathered"]
