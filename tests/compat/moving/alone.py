"""The last stage: the time of trades is over, and nothing of the old package is left."""

from __future__ import annotations

import django
import pyotp

django.setup()

from django.apps import apps  # noqa: E402

from authservice.kernel.secret import Secret  # noqa: E402
from authservice.twofactor import authenticators  # noqa: E402
from authservice.twofactor.models import Authenticator, BackupCode  # noqa: E402
from tests.compat.moving import clients  # noqa: E402

SOME = 60  # users who log in with a factor
MANY = 200  # users who refresh


def keep_factors(factors: dict[str, dict[str, str]]) -> None:
    """Users log in with the app or a code that they had before the move, and with no used code."""
    for n, (name, factor) in enumerate(factors.items()):
        clients.log_in(name, pyotp.TOTP(factor["seed"]).now() if n % 4 < 2 else factor["unused"])
        if factor["used"]:
            refused = clients.answer(name, factor["used"])
            assert refused.json()["data"]["code"] == "TWO_FACTOR_INVALID"


def still_have(factors: dict[str, dict[str, str]]) -> None:
    """The other users have their app and a code too."""
    unused = set(BackupCode.objects.filter(used_at=None).values_list("digest", flat=True))
    found = {one.user.get_username(): one for one in Authenticator.objects.select_related("user")}
    for name, factor in factors.items():
        assert found[name].verify_token(pyotp.TOTP(factor["seed"]).now()), name
        assert (
            authenticators.digest_of_backup_code(found[name], Secret(factor["unused"])) in unused
        ), name


if __name__ == "__main__":
    assert not apps.is_installed("rest_framework_simplejwt.token_blacklist")
    held = clients.held()
    assert clients.is_refused(held["access"])
    tokens, factors = held["refresh"], held["factors"]
    for user in list(tokens)[:: len(tokens) // MANY or 1]:
        data = clients.expect("/auth/refresh", {"refresh_token": tokens[user]})
        assert clients.user_of(data["access_token"]) == user
    assert Authenticator.objects.count() == len(factors)
    sample = sorted(factors)[:: len(factors) // SOME or 1]
    keep_factors({name: factors.pop(name) for name in sample})
    still_have(factors)
