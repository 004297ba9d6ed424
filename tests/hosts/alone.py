"""A host that installs core and the module named by the environment variable `MODULE`."""

from __future__ import annotations

import os
from typing import Any

from tests.hosts.shipped import alone, replace


def change(settings: dict[str, Any]) -> None:
    apps = alone(os.environ["MODULE"])
    settings["INSTALLED_APPS"] = replace(settings["INSTALLED_APPS"], apps)
