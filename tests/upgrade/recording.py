"""Creates rows through the API, and writes them and what the clients hold into a folder.

`python -m tests.upgrade` runs it once for each login module.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

django.setup()

import time_machine  # noqa: E402
from django.apps import apps  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core import serializers  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from tests.hosts.inside.rows import labels  # noqa: E402
from tests.upgrade import files, story  # noqa: E402

# Tests look at the data from here, so a validity of minutes is not over.
AT = datetime(2030, 1, 1, 12, tzinfo=UTC)


def models() -> list[Any]:
    """The user model and all models of the package; referenced ones come first."""
    ours = [(apps.get_app_config(label), None) for label in labels()]
    user = get_user_model()
    sorted_models = serializers.sort_dependencies(ours, allow_cycles=True)
    return [user, *(model for model in sorted_models if model is not user)]


def rows() -> list[Any]:
    found: list[Any] = []
    for model in models():
        stored = json.loads(serializers.serialize("json", model._base_manager.order_by("pk")))
        assert stored, f"tests/upgrade/story.py creates no row of {model._meta.label}"
        found += [_without_defaults(model, row) for row in stored]
    return found


def _without_defaults(model: Any, row: Any) -> Any:
    """The row without its empty values: the models of the release, which load it, have them."""
    fields = {
        name: value
        for name, value in row["fields"].items()
        if value is not None and value != model._meta.get_field(name).default
    }
    return {**row, "fields": fields}


def require_every_purpose(rows: list[Any]) -> None:
    """Fail unless a one-time token of each purpose is among the rows."""
    sources = "".join(path.read_text() for path in (files.ROOT / "authservice").rglob("*.py"))
    known = set(re.findall(r'\bPurpose\(\s*"([\w-]+)"', sources))
    recorded = {row["fields"].get("purpose") for row in rows}
    missing = known - recorded
    assert known, "no purpose was found"
    assert not missing, f"tests/upgrade/story.py issues no one-time token for {missing}"


def main(folder: Path) -> None:
    setup_test_environment()
    call_command("migrate", verbosity=0)
    with time_machine.travel(AT, tick=True) as traveller:
        held = story.tell(traveller)
    stored = rows()
    require_every_purpose(stored)
    files.write_rows(folder / files.ROWS, stored)
    files.write(folder / files.CLIENTS, {"recorded_at": AT.isoformat(), **held})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
