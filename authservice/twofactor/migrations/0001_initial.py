import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Authenticator",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(default="Authenticator app", editable=False, max_length=64),
                ),
                ("confirmed", models.BooleanField(default=False)),
                ("enrolment", models.UUIDField(default=uuid.uuid4, editable=False)),
                ("sealed_secret", models.CharField(editable=False, max_length=512)),
                ("last_step", models.BigIntegerField(default=0, editable=False)),
                ("set_up_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("enabled_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="authservice_authenticator",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BackupCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "authenticator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="backup_codes",
                        to="authservice_twofactor.authenticator",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RememberedDevice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("device_id", models.UUIDField()),
                ("password_mark", models.CharField(editable=False, max_length=64)),
                ("expires_at", models.DateTimeField()),
                (
                    "authenticator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remembered_devices",
                        to="authservice_twofactor.authenticator",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="authenticator",
            index=models.Index(
                fields=["confirmed", "set_up_at"], name="authsvc_authenticator_setup"
            ),
        ),
        migrations.AddConstraint(
            model_name="backupcode",
            constraint=models.UniqueConstraint(
                fields=("digest",), name="authsvc_backupcode_digest"
            ),
        ),
        migrations.AddIndex(
            model_name="remembereddevice",
            index=models.Index(fields=["expires_at"], name="authsvc_remembered_expires"),
        ),
        migrations.AddConstraint(
            model_name="remembereddevice",
            constraint=models.UniqueConstraint(
                fields=("authenticator", "device_id"), name="authsvc_remembered_device"
            ),
        ),
    ]
