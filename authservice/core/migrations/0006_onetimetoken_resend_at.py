"""Security notices have a column for the end of their pause. It was computed from the number of the
pause, which was stored as the number of attempts."""

from datetime import timedelta
from typing import Any

from django.db import migrations, models

_TRIES = 9


def fill(apps: Any, schema_editor: Any) -> None:
    tokens = apps.get_model("authservice_core", "OneTimeToken")
    notices = tokens.objects.using(schema_editor.connection.alias).filter(purpose="secure-account")
    for notice in notices.filter(digest=None, spent_at=None, attempts__lt=_TRIES):
        resend_at = notice.created_at + timedelta(minutes=15) * 2**notice.attempts
        notices.filter(pk=notice.pk).update(resend_at=resend_at)
    notices.update(attempts=0)


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_core", "0005_password_rows"),
    ]

    operations = [
        migrations.AddField(
            model_name="onetimetoken",
            name="resend_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
