"""Checks of passwords, and passwords that validators have not seen, get tables of their own. They
were one-time tokens that had no token."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import authservice.kernel.clock
from authservice.kernel.databases import move_rows


def move(apps: Any, schema_editor: Any) -> None:
    model = apps.get_model("authservice_core", "OneTimeToken")
    tokens = model.objects.using(schema_editor.connection.alias)
    move_rows(
        tokens.filter(purpose="password-check"),
        apps.get_model("authservice_core", "PasswordCheck"),
        lambda row: {**_shared(row), "rule": row.payload["rule"]},
    )
    move_rows(
        tokens.filter(purpose="unseen-password"),
        apps.get_model("authservice_core", "UnseenPassword"),
        _shared,
    )


def _shared(row: Any) -> dict[str, Any]:
    names = ("user_id", "password_fingerprint", "expires_at")
    return {name: getattr(row, name) for name in names}


def _id() -> Any:
    return models.UUIDField(
        default=authservice.kernel.clock.uuid7,
        editable=False,
        primary_key=True,
        serialize=False,
    )


def _user(related_name: str) -> Any:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_core", "0004_addressreservation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PasswordCheck",
            fields=[
                ("id", _id()),
                ("password_fingerprint", models.CharField(editable=False, max_length=64)),
                ("rule", models.TextField(blank=True, default="")),
                ("expires_at", models.DateTimeField()),
                ("user", _user("authservice_password_checks")),
            ],
        ),
        migrations.CreateModel(
            name="UnseenPassword",
            fields=[
                ("id", _id()),
                ("password_fingerprint", models.CharField(editable=False, max_length=64)),
                ("expires_at", models.DateTimeField()),
                ("user", _user("authservice_unseen_passwords")),
            ],
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
    ]
