"""A switch or an acceptance continues the session: whatever a client does with the tokens of the
response, it can refresh."""

import pytest

from authservice.core.models import Session
from authservice.core.tokens import signing as refresh_tokens
from authservice.kernel.http import envelope
from tests.organization.inside.people import Person
from tests.support.messenger.post import office
from tests.support.mounted import mounted

# `mounted` reloads the routes of this URLconf.
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.urls")]

REFUSED = (401, "INVALID_REFRESH_TOKEN")
LATER = 15  # seconds: more than the leeway for a replaced token


def switch(ann, org_id, **more):
    return ann.post("org/switch", org_id=org_id, **more)


def accept(ann, org_id, **more):
    """Ann accepts an invitation to another organization, of which `org_id` is not one."""
    eve = Person(ann.api, f"eve{Session.objects.count()}")
    other = eve.found("Other")
    assert eve.post(f"org/{other}/invite", email=ann.email).status == 201
    token = office.token("org-invitation")
    return ann.post("org/invitations/accept", token=token, **more)


# What continues the session of a signed-in client. `tests/invitation` has the third one.
CONTINUE = {"switch": switch, "accept": accept}


@pytest.fixture(autouse=True, scope="module", params=["stateless", "session"])
def _login(request):
    with mounted(login=request.param):
        yield


@pytest.fixture(params=CONTINUE)
def carry_on(request, ann, acme):
    """`carry_on(refresh_token=…)` is one of these requests of Ann."""
    return lambda **more: CONTINUE[request.param](ann, acme, **more)


@pytest.fixture(params=[{}, {"REFRESH_TOKEN_ROTATION": False}, {"REFRESH_GRACE": 30}], ids=str)
def rotation(request, configure):
    configure(**request.param)


def refresh(ann, token):
    return ann.api.post("refresh", refresh_token=token)


def test_client_that_ignores_the_tokens_refreshes(rotation, clock, ann, carry_on):
    assert carry_on().status == 200
    clock.forward(seconds=LATER)

    assert refresh(ann, ann.refresh_token).status == 200
    assert ann.get("me").status == 200


def test_client_that_takes_both_tokens_refreshes(rotation, clock, ann, carry_on):
    answer = carry_on()
    clock.forward(seconds=LATER)

    assert refresh(ann, answer.data["refresh_token"]).status == 200


def test_client_that_sends_its_token_refreshes_with_the_new_one(rotation, clock, ann, carry_on):
    answer = carry_on(refresh_token=ann.refresh_token)
    clock.forward(seconds=LATER)

    assert refresh(ann, answer.data["refresh_token"]).status == 200


def test_session_is_as_it_was_without_its_token(clock, ann, carry_on):
    columns = ("counter", "refreshed_at", "last_used_at", "idle_expires_at", "auth_time")
    rows = Session.objects.filter(user=ann.user).values(*columns)
    before = rows.get()
    clock.forward(seconds=LATER)

    answer = carry_on()

    assert answer.data["refresh_token"] == ann.refresh_token
    assert rows.get() == before


def test_current_token_is_replaced(ann, carry_on):
    answer = carry_on(refresh_token=ann.refresh_token)

    assert answer.data["refresh_token"] != ann.refresh_token
    assert refresh(ann, ann.refresh_token).error == REFUSED
    assert refresh(ann, answer.data["refresh_token"]).status == 200


def test_current_token_stays_where_rotation_is_off(configure, ann, carry_on):
    configure(REFRESH_TOKEN_ROTATION=False)

    answer = carry_on(refresh_token=ann.refresh_token)

    assert answer.data["refresh_token"] == ann.refresh_token


def test_replaced_token_is_refused_and_changes_nothing(clock, ann, carry_on):
    replaced = ann.refresh_token
    ann.refresh()
    clock.forward(seconds=LATER)

    assert carry_on(refresh_token=replaced).error == REFUSED

    assert not Session.objects.exclude(organization_id=None).exists()
    assert ann.get("org/my").data[1:] == []
    assert ann.refresh().status == 200


def test_replaced_token_gets_its_successor_within_the_grace(configure, clock, ann, carry_on):
    configure(REFRESH_GRACE=30)
    replaced = ann.refresh_token
    ann.refresh()
    clock.forward(seconds=LATER)

    answer = carry_on(refresh_token=replaced)

    assert answer.data["refresh_token"] == ann.refresh_token


def test_token_two_generations_old_is_refused_within_the_grace(configure, ann, carry_on):
    configure(REFRESH_GRACE=30)
    replaced = ann.refresh_token
    ann.refresh()
    ann.refresh()

    assert carry_on(refresh_token=replaced).error == REFUSED


@pytest.mark.parametrize("token", ["nonsense", "x" * 4096, "AQ"])
def test_malformed_token_is_refused(ann, carry_on, token):
    assert carry_on(refresh_token=token).error == REFUSED


@pytest.mark.parametrize("token", [7, True, None, [], "x" * 4097])
def test_impossible_token_is_a_validation_error(ann, carry_on, token):
    assert carry_on(refresh_token=token).error == (400, "VALIDATION_ERROR")


def test_empty_token_counts_as_none(ann, carry_on):
    assert carry_on(refresh_token="").data["refresh_token"] == ann.refresh_token


def test_forged_token_is_refused(ann, carry_on):
    session = Session.objects.get(user=ann.user)
    forged = refresh_tokens.derive_refresh_token(session.pk, session.counter, "0" * 32).reveal()

    assert carry_on(refresh_token=forged).error == REFUSED


def test_token_of_another_session_is_refused(ann, carry_on):
    other = ann.api.log_in(ann.email)["refresh_token"]

    assert carry_on(refresh_token=other).error == REFUSED
    assert refresh(ann, other).status == 200


def test_setting_withholds_the_refresh_token(organization, clock, ann, carry_on):
    organization(SWITCH_REQUIRES_REFRESH_TOKEN=True)

    answer = carry_on()
    clock.forward(seconds=LATER)

    assert answer.status == 200
    assert "refresh_token" not in answer.data
    assert refresh(ann, ann.refresh_token).status == 200


def test_setting_replaces_the_token_that_is_sent(organization, ann, carry_on):
    organization(SWITCH_REQUIRES_REFRESH_TOKEN=True)

    answer = carry_on(refresh_token=ann.refresh_token)

    assert refresh(ann, answer.data["refresh_token"]).status == 200


def test_setting_withholds_nothing_from_a_new_session(organization, ann, eve):
    organization(SWITCH_REQUIRES_REFRESH_TOKEN=True)
    other = eve.found("Other")
    eve.post(f"org/{other}/invite", email=ann.email)

    body = {"token": office.token("org-invitation")}
    answer = ann.api.request("POST", "org/invitations/accept", body)

    assert refresh(ann, answer.data["refresh_token"]).status == 200


class Browser:
    """Ann's browser: it keeps the tokens in cookies, and scripts send none."""

    def __init__(self, ann):
        self.api = ann.api
        self.kept = {"access": ann.token, "refresh": ann.refresh_token}

    def post(self, path, **body):
        kept = [
            f"{envelope.cookie_name(f'authservice_{name}')}={self.kept[name]}" for name in self.kept
        ]
        self.api.paired = True
        pair = self.api.get("csrf-token", headers={"Cookie": "; ".join(kept)}).data["csrf_token"]
        self.api.paired = False
        kept.append(f"{envelope.cookie_name('__service_csrf')}={pair}")
        headers = {"Cookie": "; ".join(kept), "X-CSRF-Token": pair}
        answer = self.api.post(path, headers=headers, **body)
        for name in ("access", "refresh"):
            morsel = answer.response.cookies.get(envelope.cookie_name(f"authservice_{name}"))
            if morsel is not None:
                self.kept[name] = morsel.value
        return answer


@pytest.fixture
def browser(ann, acme, configure):
    configure(COOKIES={"ENABLED": True})
    with mounted("authservice.csrf"):
        yield Browser(ann)


def test_token_of_the_cookie_is_replaced(clock, browser, ann, acme):
    answer = browser.post("org/switch", org_id=acme)
    clock.forward(seconds=LATER)

    assert answer.data["refresh_token"] == browser.kept["refresh"] != ann.refresh_token
    assert browser.post("refresh").status == 200


def test_cookie_that_another_tab_replaced_counts_as_none(clock, browser, ann, acme):
    late = Browser(ann)
    browser.post("refresh")

    assert late.post("org/switch", org_id=acme).status == 200
    clock.forward(seconds=LATER)

    assert late.kept["refresh"] == browser.kept["refresh"]
    assert late.post("refresh").status == 200


def test_setting_keeps_the_newer_cookie_of_another_tab(browser, configure, ann, acme):
    configure(COOKIES={"ENABLED": True}, ORGANIZATION={"SWITCH_REQUIRES_REFRESH_TOKEN": True})
    late = Browser(ann)
    browser.post("refresh")

    answer = late.post("org/switch", org_id=acme)

    assert "refresh_token" not in answer.data
    assert late.kept["refresh"] == ann.refresh_token  # no cookie replaces that of the other tab


def test_cookie_counts_for_nothing_beside_a_header(browser, ann, acme):
    answer = ann.api.request(
        "POST",
        "org/switch",
        {"org_id": acme},
        token=ann.token,
        headers={"Cookie": f"{envelope.cookie_name('authservice_refresh')}={ann.refresh_token}"},
    )

    assert answer.data["refresh_token"] == ann.refresh_token
