"""Sessions store the last moment of each level that they proved. Those that live have proven what
their `amr` says, at their `auth_time`."""

from typing import Any

from django.db import migrations, models
from django.utils import timezone

from authservice.kernel.levels import Record


def fill(apps: Any, schema_editor: Any) -> None:
    sessions = apps.get_model("authservice_core", "Session").objects.using(
        schema_editor.connection.alias
    )
    for session in sessions.filter(ended_at=None).only("amr", "auth_time").iterator():
        at = session.auth_time
        aware = timezone.make_aware(at) if timezone.is_naive(at) else at
        levels = Record.of_login(session.amr.split(), aware).text
        sessions.filter(pk=session.pk).update(levels=levels)


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_core", "0002_lostmessage"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="levels",
            field=models.CharField(blank=True, default="", editable=False, max_length=255),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
