"""The support page in German."""

import pytest
from django.utils import translation

from tests.staff_support.inside.conftest import button, lock_out, support_page
from tests.staff_support.inside.test_obstacles import blocking, notes

pytestmark = pytest.mark.django_db


def test_support_page_is_german(root, enrolled, api):
    lock_out(api)

    with translation.override("de"):
        shown, confirmation = root.see(support_page()), root.see(button("end-sessions"))

    assert blocking(shown) == ["Gesperrt bis 12:15 nach 10 falschen Passwörtern von 203.0.113.7."]
    assert any("einen von 10 Backup-Codes" in text for text in notes(shown))
    assert "Alle Sitzungen beenden" in confirmation
