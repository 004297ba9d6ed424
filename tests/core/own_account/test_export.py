"""GET /me/export: users download everything that is stored about them."""

import json
from datetime import date
from decimal import Decimal
from weakref import WeakSet

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Session
from authservice.core.staff import export_user
from authservice.core.users import lookup
from authservice.kernel.secret import Secret
from authservice.kernel.support_parts import stored
from tests.contract.shapes import is_refusal
from tests.support.aging import age_sessions
from tests.support.flows import ANN, PHONE, deactivate, prove
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

ROUTE, PATH = "me/export", "/auth/me/export"
HOOK = "tests.core.own_account.test_export."


def orders(user):
    yield "orders", "What you have bought.", ({"number": n, "for": user.email} for n in range(2))


def one_dict(user):
    def rows():
        row = {}
        for number in range(3):
            row["number"] = number
            yield row

    yield "orders", "What you have bought.", rows()


def odd_values(user):
    row = {"day": date(2030, 1, 2), "price": Decimal("9.90"), "text": "half \ud83d, \x00 and é"}
    return [("odd", "Values of all kinds.", [row])]


def broken(user):
    yield "orders", "What you have bought.", [{"number": 1}]
    raise RuntimeError("the shop is closed")


def broken_row(user):
    return [("orders", "What you have bought.", iter([{"number": 1}, "no dict"]))]


def secret(user):
    return [("secrets", "Nobody sees them.", [{"key": Secret("hunter2")}])]


def not_a_number(user):
    return [("numbers", "Numbers.", [{"price": float("nan")}])]


def same_name(user):
    return [("account", "A name that the service uses.", [])]


class Tracked(dict):
    """A row that a `WeakSet` can hold."""

    __hash__ = object.__hash__


def parts(answer):
    return {part["name"]: part["rows"] for part in answer.data["parts"]}


def rows_of(document, name):
    [rows] = [it["rows"] for it in json.loads(document)["data"]["parts"] if it["name"] == name]
    return rows


@pytest.fixture
def ask(owner):
    return lambda: owner.api.get(ROUTE, token=owner.token)


def test_export_has_the_account_and_its_rows(owner, ask):
    prove(phone=PHONE)

    answer = ask()

    assert answer.status == 200
    [account] = parts(answer)["account"]
    assert (account["email"], account["phone_number"]) == (ANN, PHONE)
    assert (account["email_verified"], account["phone_number_verified"]) == (True, True)
    [session] = parts(answer)["sessions"]
    assert session["id"] == str(Session.objects.get().pk)
    assert answer.data["user_id"] == owner.user_id


def test_every_part_says_its_purpose_and_what_a_deletion_leaves(ask):
    for part in ask().data["parts"]:
        assert part["purpose"].endswith("."), part["name"]
        assert part["after_deletion"].endswith("."), part["name"]


def test_export_is_a_file_that_no_cache_stores(clock, ask):
    headers = ask().headers

    assert headers["Content-Disposition"] == 'attachment; filename="your-data-2030-01-01.json"'
    assert "no-store" in headers["Cache-Control"]
    assert headers["Content-Type"] == "application/json"


def test_last_field_says_that_the_document_is_complete(owner):
    sent = Client().get(PATH, headers={"Authorization": f"Bearer {owner.token}"}).getvalue()

    assert sent.endswith(b'],"complete":true}}')


def test_purposes_are_in_the_language_of_the_request(owner, settings):
    settings.LANGUAGES = [("en", "English"), ("de", "German")]
    answer = owner.api.get(ROUTE, token=owner.token, headers={"Accept-Language": "de"})

    [account] = [part for part in answer.data["parts"] if part["name"] == "account"]
    assert account["after_deletion"] == "Wird mit dem Konto gelöscht."
    assert answer.headers["Content-Language"] == "de"


def test_requested_address_is_among_links_and_codes(owner, ask):
    owner.move("eve@example.com")

    rows = parts(ask())["links_and_codes"]

    assert [row["email"] for row in rows if row["purpose"] == "change-email"] == ["eve@example.com"]


def test_wrong_passwords_are_counted_in_the_export(api, ask):
    for _ in range(3):
        api.post("login", email=ANN, password="wrong")

    [counter] = parts(ask())["failed_attempts"]
    assert (counter["attempts"], counter["of"]) == (3, "wrong passwords")


def test_two_users_are_never_mixed(api, ask):
    prove()
    api.sign_up("bob@example.com", username="bob", name="Robert Plum")
    api.post("login", email="bob@example.com", password="wrong")
    bob = the_user("bob@example.com")

    text = json.dumps(ask().body)

    assert "bob" not in text
    assert "Plum" not in text
    assert str(Session.objects.get(user=bob).pk) not in text


class TestRefused:
    def test_without_a_token(self, api):
        assert is_refusal(api.get(ROUTE), 401, "UNAUTHORIZED")

    def test_of_a_suspended_user(self, ask):
        deactivate()

        assert is_refusal(ask(), 401, "INVALID_TOKEN")

    def test_after_a_logout_even_if_only_signatures_are_checked(self, owner, ask, configure):
        configure(STATELESS={"CHECK": "signature"})
        owner.ask("POST", "logout")

        assert is_refusal(ask(), 401, "INVALID_TOKEN")

    def test_without_a_recent_proof(self, ask):
        age_sessions()

        assert ask().error == (401, "STEP_UP_REQUIRED")

    def test_without_a_recent_proof_does_not_use_up_the_hour(self, ask):
        age_sessions()
        ask()
        age_sessions(minutes=-10)

        assert ask().status == 200

    def test_for_an_hour_after_an_export(self, clock, api, ask):
        ask()
        clock.forward(minutes=59)
        token = api.log_in()["access_token"]

        answer = api.get(ROUTE, token=token)
        assert is_refusal(answer, 429, "TOO_MANY_REQUESTS")
        assert 0 < int(answer.headers["Retry-After"]) <= 60
        clock.forward(minutes=1)
        assert api.get(ROUTE, token=token).status == 200

    def test_for_one_user_only(self, api, ask):
        ask()
        bob = api.sign_up("bob@example.com")["access_token"]

        assert api.get(ROUTE, token=bob).status == 200

    def test_not_by_head_requests(self, owner, ask):
        head = owner.api.request("HEAD", ROUTE, token=owner.token)

        assert (head.status, head.response.content) == (200, b"")
        assert ask().status == 200

    def test_not_if_limits_are_turned_off(self, ask, no_floods):
        ask()

        assert ask().status == 200


class TestProject:
    @pytest.fixture
    def hook(self, configure):
        return lambda function: configure(CORE={"EXPORT_HOOK": HOOK + function.__name__})

    def test_rows_are_the_last_part(self, ask, hook):
        hook(orders)

        assert ask().data["parts"][-1] == {
            "name": "orders",
            "purpose": "What you have bought.",
            "rows": [{"number": 0, "for": ANN}, {"number": 1, "for": ANN}],
        }

    def test_rows_may_be_one_dict_that_is_filled_again(self, ask, hook):
        hook(one_dict)

        assert parts(ask())["orders"] == [{"number": 0}, {"number": 1}, {"number": 2}]

    def test_values_are_those_of_json(self, ask, hook):
        hook(odd_values)

        [row] = parts(ask())["odd"]
        assert row == {"day": "2030-01-02", "price": "9.90", "text": "half ?, \x00 and é"}

    @pytest.mark.parametrize("function", [broken, broken_row, secret, not_a_number, same_name])
    def test_error_ends_the_document_before_it_is_complete(self, owner, hook, function):
        hook(function)
        streamed = Client().get(PATH, headers={"Authorization": f"Bearer {owner.token}"})
        sent = []

        with pytest.raises((RuntimeError, TypeError, ValueError)):
            sent += streamed

        document = b"".join(sent).decode()
        assert "complete" not in document
        assert "hunter2" not in document
        with pytest.raises(ValueError, match=r"."):
            json.loads(document)

    def test_error_is_logged_with_the_request_id(self, owner, hook, caplog):
        hook(broken)
        streamed = Client().get(PATH, headers={"Authorization": f"Bearer {owner.token}"})

        with pytest.raises(RuntimeError):
            list(streamed)

        [record] = [record for record in caplog.records if record.levelname == "ERROR"]
        assert streamed.headers["X-Request-ID"] in record.getMessage()

    def test_error_does_not_use_up_the_hour(self, owner, ask, hook, configure):
        hook(broken)
        streamed = Client().get(PATH, headers={"Authorization": f"Bearer {owner.token}"})
        with pytest.raises(RuntimeError):
            list(streamed)
        configure(CORE={})

        assert ask().status == 200

    def test_client_that_hangs_up_has_used_its_hour(self, owner, ask, monkeypatch):
        streamed = Client().get(PATH, headers={"Authorization": f"Bearer {owner.token}"})
        next(iter(streamed))
        # The end of a request closes the connection too, which has the transaction of the test.
        monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
        streamed.close()

        assert ask().status == 429


class TestStream:
    @pytest.fixture
    def many(self, owner):
        """1,200 sessions of Ann, which are three batches."""
        [row] = Session.objects.all()
        values = {field.attname: getattr(row, field.attname) for field in row._meta.fields}
        del values["id"]
        Session.objects.bulk_create((Session(**values) for _ in range(1199)), batch_size=500)
        return owner

    @pytest.fixture
    def queries(self):
        table = connection.ops.quote_name("authservice_core_session")
        with CaptureQueriesContext(connection) as captured:
            yield lambda: sum(table in one["sql"] for one in captured)

    def test_rows_are_read_while_the_document_is_written(self, many, queries):
        chunks = export_user.document(lookup.find_by_id(many.user_id))
        first = next(chunks)
        read = queries()

        rest = b"".join(chunks)

        assert (read, queries()) == (1, 3)
        assert len({row["id"] for row in rows_of(first + rest, "sessions")}) == 1200

    def test_rows_are_not_held(self, many):
        alive, most = WeakSet(), 0

        def shown(row):
            alive.add(made := Tracked(row))
            return made

        sessions = Session.objects.all()
        for _ in stored(sessions, "id", shown=shown):
            most = max(most, len(alive))

        assert most == 1

    def test_async_server_sends_chunks_while_it_reads(self, many):
        async def read():
            headers = {"Authorization": f"Bearer {many.token}"}
            response = await AsyncClient().get(PATH, headers=headers)
            assert response.is_async
            return [chunk async for chunk in response]

        chunks = async_to_sync(read)()

        assert len(chunks) > 3
        assert len(rows_of(b"".join(chunks), "sessions")) == 1200

    def test_async_server_cuts_a_broken_document(self, owner, configure):
        configure(CORE={"EXPORT_HOOK": HOOK + broken.__name__})

        async def read():
            headers = {"Authorization": f"Bearer {owner.token}"}
            async for _ in await AsyncClient().get(PATH, headers=headers):
                pass

        with pytest.raises(RuntimeError):
            async_to_sync(read)()
