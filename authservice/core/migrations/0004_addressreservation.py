"""Reservations of former addresses get a table of their own. They were one-time tokens that had no
token."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import authservice.kernel.clock
from authservice.kernel.databases import move_rows


def move(apps: Any, schema_editor: Any) -> None:
    tokens = apps.get_model("authservice_core", "OneTimeToken")
    move_rows(
        tokens.objects.using(schema_editor.connection.alias).filter(purpose="former-address"),
        apps.get_model("authservice_core", "AddressReservation"),
        lambda row: {
            "user_id": row.user_id,
            "email_key": row.target_key,
            "expires_at": row.expires_at,
        },
    )


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_core", "0003_session_levels"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AddressReservation",
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
                ("email_key", models.CharField(editable=False, max_length=64)),
                ("expires_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authservice_address_reservations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["email_key"], name="authsvc_reservation_email")],
            },
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
    ]
