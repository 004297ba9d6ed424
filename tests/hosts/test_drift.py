"""The migrations match the models, with any user model and `DEFAULT_AUTO_FIELD` of the host."""

from itertools import product

import pytest

from tests.hosts.runs import python
from tests.hosts.shipped import everything

# With every module installed, as `tests.hosts.auto_field` does.
LABELS = [app.replace(".", "_") for app in everything()]


HOSTS = ["", "uuid_user", "email_user", "bare_user"]
FIELDS = ["AutoField", "BigAutoField"]
# Each field, and Django's own user model and another one. The rest are slow, since each is a
# process.
QUICK = [("", "AutoField"), ("email_user", "BigAutoField")]
CASES = [
    pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow)
    for case in product(HOSTS, FIELDS)
]


@pytest.mark.parametrize(("host", "auto_field"), CASES)
def test_no_migration_is_missing_in_host(host, auto_field):
    run = python(
        *("-m", "django", "makemigrations", "--check", "--dry-run"),
        *LABELS,
        host=host,
        DJANGO_SETTINGS_MODULE="tests.hosts.auto_field",
        AUTO_FIELD=auto_field,
    )

    assert run.returncode == 0, run.stdout
