"""The recorded files of each release, and the recorded state of its migrations."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent
LOGIN_MODULES = ("session", "stateless")
ROWS, CLIENTS, MIGRATIONS = "rows.json", "clients.json", "migrations.json"


def releases() -> list[str]:
    """The recorded releases, such as "0.1"; the newest is the last."""
    found = [path.parent.name for path in FOLDER.glob(f"*/{MIGRATIONS}")]
    return sorted(found, key=lambda name: [int(part) for part in name.split(".")])


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def write_rows(path: Path, rows: list[Any]) -> None:
    """One row a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def migrations() -> dict[str, str]:
    """The digest of each migration file of the package."""
    found = (ROOT / "authservice").glob("*/migrations/0*.py")
    return {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(found)
    }
