"""The migrations match the models, with any user model and `DEFAULT_AUTO_FIELD` of the host."""

import pytest

from tests.hosts.runs import python
from tests.hosts.shipped import everything

# With every module installed, as `tests.hosts.auto_field` does.
LABELS = [app.replace(".", "_") for app in everything()]


@pytest.mark.parametrize("auto_field", ["AutoField", "BigAutoField"])
@pytest.mark.parametrize("host", ["", "uuid_user", "email_user", "bare_user"])
def test_no_migration_is_missing_in_host(host, auto_field):
    run = python(
        *("-m", "django", "makemigrations", "--check", "--dry-run"),
        *LABELS,
        host=host,
        DJANGO_SETTINGS_MODULE="tests.hosts.auto_field",
        AUTO_FIELD=auto_field,
    )

    assert run.returncode == 0, run.stdout
