"""The last stage: the time of trades is over, and nothing of the old package is left."""

from __future__ import annotations

import django

django.setup()

from django.apps import apps  # noqa: E402

from tests.compat.moving import clients  # noqa: E402

if __name__ == "__main__":
    assert not apps.is_installed("rest_framework_simplejwt.token_blacklist")
    held = clients.held()
    assert clients.is_refused(held["access"])
    for user in list(held["refresh"])[:50]:
        data = clients.expect("/auth/refresh", {"refresh_token": held["refresh"][user]})
        assert clients.user_of(data["access_token"]) == user
