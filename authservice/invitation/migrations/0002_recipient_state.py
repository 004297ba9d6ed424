"""Columns for the state of the recipient's account when an invitation is mailed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("authservice_invitation", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="platforminvitation",
            name="recipient_fingerprint",
            field=models.CharField(editable=False, max_length=64, null=True),
        ),
        migrations.AddField(
            model_name="platforminvitation",
            name="recipient_version",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
    ]
