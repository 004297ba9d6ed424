"""The service accepts the example of each request body.

A token or code of a message is an example too: its form is accepted, and the refusal says that the
service did not issue it.
"""

import pytest

from authservice.oauth.providers.openid_connect import Google
from authservice.openapi.document import describe
from authservice.passkeys.models import Passkey
from authservice.testing import UserFactory, make_organization
from tests.support.client import PASSWORD


class PostingProvider(Google):
    """A provider that sends a form to the callback, as Apple does."""

    form_post = True


pytestmark = pytest.mark.django_db

JSON = "application/json"
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in describe()["paths"].items()
    for method, operation in operations.items()
    if "requestBody" in operation
}
# What the service answers where it did not issue the token or the code of the example.
LINK = "INVALID_TOKEN"
CHALLENGE = "INVALID_TOKEN"
PASSKEY = "PASSKEY_INVALID"
INVITATION = "INVITATION_NOT_FOUND"
NOT_ISSUED = {
    "verifyLogin": CHALLENGE,
    "setUpTwoFactorToLogIn": CHALLENGE,
    "verifyStepUp": CHALLENGE,
    **dict.fromkeys(("addPasskey", "logInWithPasskey"), PASSKEY),
    **dict.fromkeys(
        ("enableTwoFactor", "disableTwoFactor", "renewBackupCodes"), "TWO_FACTOR_NOT_ENABLED"
    ),
    **dict.fromkeys(
        ("confirmAccountDeletion", "secureAccount", "resetPassword", "confirmMagicLink"), LINK
    ),
    **dict.fromkeys(("confirmEmail", "confirmEmailChange"), "INVALID_VERIFICATION_TOKEN"),
    **dict.fromkeys(("verifyPhone", "verifyMagicLinkCode"), "INVALID_VERIFICATION_CODE"),
    **dict.fromkeys(("acceptInvitation", "declineInvitation"), INVITATION),
    **dict.fromkeys(("acceptOrgInvitation", "declineOrgInvitation"), INVITATION),
    **dict.fromkeys(
        ("completeProviderLoginWithPost", "exchangeProviderToken"), "OAUTH_INVALID_STATE"
    ),
}


@pytest.fixture
def ann():
    """A super admin with the address, username and password of the examples, beside another."""
    UserFactory(is_super_admin=True)
    return UserFactory(
        email="ann@example.com", username="ann", password=PASSWORD, is_super_admin=True
    )


# An address of the example of `linkProvider`, which a project lists in its settings.
RETURN_URL = OPERATIONS["linkProvider"][2]["requestBody"]["content"][JSON]["example"]["next"]


@pytest.fixture
def places(ann):
    """The values of path parameters."""
    bob = UserFactory(email="bob2@example.com")
    acme = make_organization(ann, member=[bob])
    passkey = Passkey.objects.create(
        user=ann, credential_id="q9Zr1mV0", public_key="", verifies=True
    )
    ids = {"user_id": bob.pk, "org_id": acme.pk, "passkey_id": passkey.pk}
    return {"provider": "google", **{name: str(id) for name, id in ids.items()}}


@pytest.fixture(autouse=True)
def _settings(configure, settings):
    provider = {
        "CLIENT_ID": "id",
        "CLIENT_SECRET": "secret",
        "CLASS": f"{__name__}.PostingProvider",
    }
    configure(
        CORE={"ALLOW_SELF_DELETE": True},
        OAUTH={
            "USE_SESSION_AUTH": True,
            "PROVIDERS": {"google": provider},
            "RETURN_URLS": [RETURN_URL],
        },
        NOTIFICATION={"SMS_SENDER": "console"},
    )


@pytest.mark.parametrize("name", OPERATIONS)
def test_example_of_a_body_is_accepted(api, ann, places, name):
    method, path, operation = OPERATIONS[name]
    body = operation["requestBody"]["content"][JSON]["example"]
    # With a password: the options of a conditional passkey ask for one.
    tokens = api.log_in()
    if name == "signUp":
        ann.delete()
    issued = {
        "refreshTokens": {"refresh_token": tokens["refresh_token"]},
        "switchOrganization": {"org_id": places["org_id"]},
    }
    body = {**body, **issued.get(name, {})}

    path = path.lstrip("/").format(**places)
    answer = api.request(method, path, body, token=tokens["access_token"])

    expected = NOT_ISSUED.get(name, "")
    assert (answer.data or {}).get("code", "") == expected, answer.body
    assert bool(expected) == (answer.status >= 400)
