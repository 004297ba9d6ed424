"""REST views of the host project: tokens of other issuers, permissions, errors in our envelope."""

import jwt
import pytest
from django.db import transaction
from django.db.models import F
from django.test import Client
from django.urls import path
from rest_framework.exceptions import APIException
from rest_framework.permissions import IsAuthenticated
from rest_framework.views import APIView
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.tokens import AccessToken

from authservice.authentication import AuthserviceAuthentication
from authservice.core.models import Account, Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from authservice.kernel.clock import utc as utc_now
from authservice.kernel.levels import Record
from authservice.permissions import SignedInWithin
from tests.host_views.conftest import bearer
from tests.host_views.urls import Notes
from tests.host_views.urls import urlpatterns as others
from tests.support.people import the_user
from tests.support.slots import listening
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
HANDLER = "authservice.exceptions.exception_handler"


class Side(Notes):
    """Both packages beside each other, while clients move from one to the other."""

    authentication_classes = (AuthserviceAuthentication, JWTAuthentication)
    permission_classes = (IsAuthenticated,)


class Taken(APIException):
    """An error of the host without a code."""

    status_code = 409


class Refusing(APIView):
    """Raises `Taken` with a text, and with the errors of a field."""

    authentication_classes = permission_classes = ()

    def get(self, request):
        raise Taken("The name is taken.")

    def post(self, request):
        raise Taken({"name": ["It is taken."]})


urlpatterns = [
    *others,
    path("side", Side.as_view()),
    path("refusing", Refusing.as_view()),
]


def get(path, headers=None):
    return Client().get(path, headers=headers or {})


class TestForeignTokens:
    @pytest.fixture(autouse=True)
    def _beside(self, settings):
        settings.ROOT_URLCONF = __name__

    def test_token_of_simplejwt_is_left_to_its_class(self, ann):
        token = AccessToken.for_user(the_user())

        assert get("/side", {"Authorization": f"Bearer {token}"}).json()["email"] == EMAIL

    def test_token_of_ours_is_read_by_our_class(self, ann):
        assert get("/side", bearer(ann)).json()["email"] == EMAIL

    def test_ended_token_of_ours_is_not_left_to_the_next_class(self, api, ann):
        api.post("logout", token=ann["access_token"])
        answer = get("/side", bearer(ann))

        assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_TOKEN")

    def test_access_token_of_another_issuer_is_left_to_the_next_class(self, ann):
        """Its `typ` is that of every access token by RFC 9068."""
        claims = {"iss": "https://sso.example.com"}
        token = jwt.encode(claims, "x" * 32, "HS256", headers={"typ": "at+jwt", "kid": "theirs"})
        answer = get("/side", {"Authorization": f"Bearer {token}"})

        assert (answer.status_code, answer.json()["code"]) == (401, "token_not_valid")

    @pytest.mark.parametrize(
        ("claims", "header"),
        [
            ({"iss": "http://testserver"}, {}),
            ({}, {"typ": "at+jwt"}),
            ({}, {"typ": "application/AT+JWT"}),
        ],
    )
    def test_forged_token_that_names_us_is_refused_by_our_class(self, ann, claims, header):
        forged = jwt.encode(claims, "x" * 32, "HS256", headers=header)
        answer = get("/side", {"Authorization": f"Bearer {forged}"})

        assert (answer.status_code, answer.json()["code"]) == (401, "INVALID_TOKEN")

    def test_forged_token_with_our_key_id_is_refused_by_our_class(self, ann):
        kid = jwt.get_unverified_header(ann["access_token"])["kid"]
        forged = jwt.encode({}, "x" * 32, "HS256", headers={"kid": kid})

        assert get("/side", {"Authorization": f"Bearer {forged}"}).json()["code"] == "INVALID_TOKEN"

    @pytest.mark.parametrize("token", ["opaque", "a.b.c", "x" * 9000, "W10.W10.W10", "e30.e30.e30"])
    def test_other_tokens_are_refused(self, token):
        answer = get("/notes", {"Authorization": f"Bearer {token}"})

        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


class TestPermissions:
    def refusal(self, path, tokens):
        answer = get(path, bearer(tokens))
        return answer.status_code, answer.json().get("code")

    def test_is_email_verified_refuses_unverified_users(self, ann):
        assert self.refusal("/verified", ann) == (403, "EMAIL_NOT_VERIFIED")
        Account.objects.update(verified_email_key=F("email_key"))

        assert self.refusal("/verified", ann) == (200, None)

    def test_is_super_admin_refuses_other_users(self, ann):
        assert self.refusal("/super", ann) == (403, "FORBIDDEN")
        Account.objects.update(is_super_admin=True)

        assert self.refusal("/super", ann) == (200, None)

    def test_is_super_admin_records_refusals(self, ann):
        events = []
        with listening(events.append):
            self.refusal("/super", ann)

        assert [(event.action, event.user.pk) for event in events] == [
            ("security.forbidden", the_user(EMAIL).pk)
        ]

    def test_is_super_admin_requires_the_factor_that_the_settings_require(
        self, api, ann, configure
    ):
        """Also of a user who became a super admin while signed in."""
        Account.objects.update(is_super_admin=True)
        configure(TWOFACTOR={"REQUIRED": "super_admins"})
        assert self.refusal("/super", ann) == (403, "REAUTHENTICATION_REQUIRED")
        person = Person(api, EMAIL, ann["access_token"], ann["user"]["id"]).enrol()
        tokens = person.verify_login(person.backup_codes[0]).data

        assert self.refusal("/super", tokens) == (200, None)

    def test_used_second_factor_refuses_sessions_without_one(self, api, ann):
        assert self.refusal("/factor", ann) == (403, "REAUTHENTICATION_REQUIRED")
        person = Person(api, EMAIL, ann["access_token"], ann["user"]["id"]).enrol()
        tokens = person.verify_login(person.backup_codes[0]).data

        assert self.refusal("/factor", tokens) == (200, None)

    def test_signed_in_within_refuses_older_logins(self, api, clock, ann):
        assert self.refusal("/recent", ann) == (200, None)
        clock.forward(minutes=11)
        assert self.refusal("/recent", ann) == (403, "REAUTHENTICATION_REQUIRED")
        refreshed = api.post("refresh", refresh_token=ann["refresh_token"]).data

        assert self.refusal("/recent", refreshed) == (403, "REAUTHENTICATION_REQUIRED")
        assert self.refusal("/recent", api.log_in()) == (200, None)

    def test_signed_in_within_refuses_a_proof_that_was_withdrawn(self, ann):
        """The passkey of the login was removed since, in another session."""
        person = lookup.find_by_id(ann["user"]["id"])
        Session.objects.update(levels=Record.of_login(("pop", "user", "mfa"), utc_now()).text)
        assert self.refusal("/recent", ann) == (200, None)

        with transaction.atomic():
            sessions.withdraw_proofs(person, "pop")

        assert self.refusal("/recent", ann) == (403, "REAUTHENTICATION_REQUIRED")

    @pytest.mark.parametrize("path", ["/verified", "/super", "/recent"])
    def test_ended_session_has_no_permission_whatever_requests_check(
        self, api, ann, configure, path
    ):
        """Without a query for each request, views without a permission accept its token."""
        Account.objects.update(verified_email_key=F("email_key"), is_super_admin=True)
        configure(STATELESS={"CHECK": "signature"})
        assert self.refusal(path, ann) == (200, None)
        api.post("logout", token=ann["access_token"])

        assert self.refusal(path, ann) == (401, "INVALID_TOKEN")
        assert self.refusal("/notes", ann) == (200, None)

    @pytest.mark.parametrize("path", ["/verified", "/super", "/factor", "/recent"])
    def test_request_without_a_token_is_401(self, path):
        assert get(path).status_code == 401

    @pytest.mark.parametrize("minutes", [0, -1])
    def test_time_that_is_not_positive_is_refused(self, minutes):
        with pytest.raises(ValueError, match="positive"):
            SignedInWithin(minutes=minutes)


class TestExceptionHandler:
    @pytest.fixture(autouse=True)
    def _handler(self, settings):
        settings.ROOT_URLCONF = __name__
        settings.REST_FRAMEWORK = {"EXCEPTION_HANDLER": HANDLER}

    def post(self, tokens, body):
        return Client().post("/notes", body, "application/json", headers=bearer(tokens)).json()

    def test_refusal_of_ours_keeps_its_code(self, api, ann):
        api.post("logout", token=ann["access_token"])
        answer = get("/notes", bearer(ann))

        assert answer.json() == api.get("me", token=ann["access_token"]).body
        assert answer.status_code == 401

    def test_missing_token_has_the_code_of_the_service(self):
        assert get("/notes").json()["data"]["code"] == "UNAUTHORIZED"

    def test_permission_has_its_code(self, ann):
        assert get("/verified", bearer(ann)).json()["data"]["code"] == "EMAIL_NOT_VERIFIED"

    def test_method_has_the_code_of_the_service(self, ann):
        answer = Client().delete("/notes", headers=bearer(ann))

        assert answer.json()["data"]["code"] == "METHOD_NOT_ALLOWED"

    @pytest.mark.parametrize(
        ("method", "message"), [("get", "The name is taken."), ("post", "name: It is taken.")]
    )
    def test_error_without_a_code_is_no_internal_error(self, method, message):
        answer = getattr(Client(), method)("/refusing")
        expected = {"data": {"code": "ERROR", "message": message}, "message": message}

        assert (answer.status_code, answer.json()) == (409, expected)

    def test_invalid_json_has_the_code_of_the_service(self, ann):
        assert self.post(ann, "{")["data"]["code"] == "INVALID_JSON"

    def test_error_of_a_serializer_names_the_field_and_the_rule(self, ann, configure):
        rule = "text: Ensure this field has no more than 5 characters."

        assert self.post(ann, {"text": "a long text"}) == {
            "data": {"code": "VALIDATION_ERROR", "message": rule},
            "message": rule,
        }
        configure(API={"ERROR_DETAILS": True})
        assert list(self.post(ann, {"text": "a long text"})["data"]["details"]) == ["text"]
