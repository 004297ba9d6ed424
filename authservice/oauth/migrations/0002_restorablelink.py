"""Removed links that can be restored get a table of their own. They were one-time tokens that had
no token.

The migration does not depend on one of core: undoing those of core would undo it too. Without a
table of one-time tokens there is nothing to move.
"""

from datetime import datetime
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import authservice.kernel.clock
from authservice.kernel.databases import move_rows


def move(apps: Any, schema_editor: Any) -> None:
    try:
        tokens = apps.get_model("authservice_core", "OneTimeToken")
    except LookupError:
        return
    move_rows(
        tokens.objects.using(schema_editor.connection.alias).filter(purpose="oauth-unlinked"),
        apps.get_model("authservice_oauth", "RestorableLink"),
        _columns,
    )


def _columns(row: Any) -> dict[str, Any]:
    link = row.payload
    return {
        "user_id": row.user_id,
        **{name: link[name] for name in ("provider", "subject", "email", "at_signup")},
        "added_at": _moment(link["added_at"]),
        # The oldest rows do not say what was proven.
        "proven_key": link.get("proven_key", ""),
        "proven_at": _moment(link.get("proven_at")),
        "removed_at": row.created_at,
        "recoveries": row.attempts,
    }


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_oauth", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RestorableLink",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=authservice.kernel.clock.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("provider", models.CharField(max_length=63)),
                ("subject", models.CharField(max_length=255)),
                ("email", models.CharField(blank=True, default="", max_length=254)),
                ("at_signup", models.BooleanField()),
                ("added_at", models.DateTimeField()),
                (
                    "proven_key",
                    models.CharField(blank=True, default="", editable=False, max_length=64),
                ),
                ("proven_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("removed_at", models.DateTimeField()),
                ("recoveries", models.PositiveSmallIntegerField(default=0, editable=False)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authservice_restorable_links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
    ]
