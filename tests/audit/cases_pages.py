"""Links of mails that lead to pages of the service: opening one writes no entry."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

from django.utils import timezone

from authservice.core.models import OneTimeToken
from authservice.invitation.models import PlatformInvitation
from authservice.organization.models import OrganizationInvitation
from tests.audit.acme import Acme
from tests.audit.world import case
from tests.invitation.invites import Invites
from tests.support.flows import ANN

RESET = "GET /reset-password"
INVITED = {
    "invitations/accept": (
        PlatformInvitation,
        lambda world: _invites(world).mailed("eve@a.example"),
    ),
    "org/invitations/accept": (OrganizationInvitation, lambda world: Acme(world).token()),
}


def _invites(world):
    return Invites(world.api, world.post, world.token)


def opened(world, path, **query):
    return lambda: world.api.get(f"{path}?{urlencode(query)}")


@case(RESET)
def reset_page(world):
    return opened(world, "reset-password", token=world.flows.reset_token(), email=ANN)


@case(RESET, code="INVALID_TOKEN")
def reset_page_of_an_unknown_token(world):
    return opened(world, "reset-password", token="A" * 43, email=ANN)


@case(RESET, code="TOKEN_EXPIRED")
def reset_page_of_an_expired_token(world):
    token = world.flows.reset_token()
    OneTimeToken.objects.update(expires_at=timezone.now())
    return opened(world, "reset-password", token=token, email=ANN)


for path, (rows, token_of) in INVITED.items():

    def page(world, path=path, token_of=token_of):
        return opened(world, path, token=token_of(world))

    def unknown(world, path=path):
        return opened(world, path, token="A" * 43)

    def answered(world, path=path, token_of=token_of):
        token = token_of(world)
        decline = path.replace("accept", "decline")
        assert world.api.request("POST", decline, {"token": token}).status == 200
        return opened(world, path, token=token)

    def expired(world, path=path, rows=rows, token_of=token_of):
        token = token_of(world)
        rows.objects.update(expires_at=timezone.now() - timedelta(days=1))
        return opened(world, path, token=token)

    case(f"GET /{path}")(page)
    case(f"GET /{path}", code="INVITATION_NOT_FOUND")(unknown)
    case(f"GET /{path}", code="INVITATION_NOT_PENDING")(answered)
    case(f"GET /{path}", code="INVITATION_EXPIRED")(expired)
