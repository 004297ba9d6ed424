"""The project's model or table refuses the row of a user: never a 500, and nothing is stored."""

from itertools import product

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.models import Model, Q, UniqueConstraint, Value
from django.db.models.fields import NOT_PROVIDED
from django.db.models.functions import Random

from authservice.core.login import host_hooks
from authservice.core.messages import kinds
from authservice.core.models import Account, Session
from tests.oauth.in_process import SETTINGS, office
from tests.support import triggers
from tests.support.client import PASSWORD, Api
from tests.support.flows import ANN, CommittingApi, Flows, prove
from tests.twofactor.people import Person
from tests.user_models.inside.places import BOB, PLACES, PROFILE, secure, sign_up

pytestmark = pytest.mark.django_db

User = get_user_model()
NO_DOMAIN = "Addresses of this domain are not accepted."


class Refusing:
    """Makes the model refuse each row that is saved from now on."""

    def __init__(self, monkeypatch):
        self.patch = monkeypatch

    def unique(self):
        """The table has the nickname already, and save() sets it again."""
        User.objects.bulk_create([User(username="eve", email="eve@example.com", nickname="owl")])

        def save(user, *args, update_fields=None, **options):
            user.nickname = "owl"
            if update_fields is not None:
                update_fields = [*update_fields, "nickname"]
            Model.save(user, *args, update_fields=update_fields, **options)

        self.patch.setattr(User, "save", save)

    def _raise(self, error):
        def save(user, *args, **options):
            raise error

        self.patch.setattr(User, "save", save)

    def clean(self):
        self._raise(ValidationError(NO_DOMAIN))

    def column(self):
        self._raise(ValidationError({"nickname": ["A secret rule."]}))

    def field(self):
        self._raise(ValidationError({"email": [NO_DOMAIN], "nickname": ["A secret rule."]}))

    def receiver(self):
        self._raise(IntegrityError("a receiver of post_save"))

    def value(self):
        self._raise(DataError("value too long"))

    def trigger(self):
        """A rule of the database; on a server its error is no `IntegrityError`."""
        triggers.refuse(User)

    def trigger_with_code(self):
        """The same, with an error code of the project's own."""
        triggers.refuse(User, error=triggers.errors()[1])

    def at_commit(self):
        triggers.refuse_at_commit(User)


TRIGGERS = ("trigger", "trigger_with_code")
KINDS = ("unique", "clean", "column", "field", "receiver", "value", *TRIGGERS)

_triggers = triggers.of(User)


@pytest.fixture
def refuse(monkeypatch):
    return Refusing(monkeypatch)


@pytest.fixture
def refuse_committed(transactional_db, refuse):
    """The same in a test that commits."""
    yield refuse
    triggers.accept(User)


@pytest.fixture(autouse=True)
def _settings(configure):
    host_hooks._saves_as_django.cache_clear()
    office.reset()
    configure(
        THROTTLE={"ENABLED": False},
        OAUTH={"PROVIDERS": {"acme": SETTINGS}},
        CORE={"PROFILE_SERIALIZER": PROFILE},
        INVITATION={"WHO_MAY_INVITE": "everyone"},
    )
    yield
    host_hooks._saves_as_django.cache_clear()


@pytest.fixture
def ann(api, post):
    tokens = api.sign_up(ANN, username="ann")
    prove(ANN)
    post.jobs.clear()
    return tokens


def rows():
    return sorted(User.objects.values_list("pk", "username", "email", "password", "nickname"))


# Each run tries a conflict and a validation error at each place, and each kind at two places. The
# other hundred cases are slow: no place treats a kind of refusal in its own way.
ALWAYS_KINDS, ALWAYS_PLACES = ("unique", "clean"), (sign_up, secure)
REFUSALS = [
    pytest.param(
        *(place, kind),
        marks=[] if kind in ALWAYS_KINDS or place in ALWAYS_PLACES else pytest.mark.slow,
    )
    for place, kind in product(PLACES, KINDS)
]


@pytest.mark.parametrize(("place", "kind"), REFUSALS)
def test_refused_row_is_a_clear_error(api, ann, flows, refuse, place, kind):
    save = place(api, ann, flows)
    getattr(refuse, kind)()
    before, accounts = rows(), Account.objects.count()

    answer = save()

    assert answer.error in {(409, "CONFLICT"), (400, "VALIDATION_ERROR")}, answer.body
    if kind not in TRIGGERS:  # of another kind on each database
        assert (answer.code == "CONFLICT") == (kind in ("unique", "receiver"))
    assert "secret rule" not in answer.response.content.decode()
    if kind == "clean":
        assert NO_DOMAIN in answer.data["message"]
    assert rows() == before
    assert Account.objects.count() == accounts
    with connection.cursor() as cursor:  # the outer transaction is usable
        cursor.execute("SELECT 1")


@pytest.mark.django_db(transaction=True)  # a login opens no savepoint
@pytest.mark.parametrize("kind", KINDS)
def test_login_that_the_project_refuses_is_a_clear_error(refuse_committed, kind):
    api = Api(raising=False)
    api.sign_up(ANN, username="ann")
    getattr(refuse_committed, kind)()
    host_hooks._saves_as_django.cache_clear()

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert answer.error in {(409, "CONFLICT"), (400, "VALIDATION_ERROR")}, answer.body
    assert not Account.objects.filter(user__nickname="owl", user__username="ann").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["unique", "clean", *TRIGGERS])
def test_second_step_of_a_login_that_the_project_refuses_is_a_clear_error(refuse_committed, kind):
    ann = Person(Api(raising=False)).sign_up().enrol()
    temp_token = ann.temp_token()
    getattr(refuse_committed, kind)()
    host_hooks._saves_as_django.cache_clear()

    answer = ann.verify_login(ann.code(1), temp_token)

    assert answer.error in {(409, "CONFLICT"), (400, "VALIDATION_ERROR")}, answer.body
    assert not Session.objects.filter(amr__contains="otp").exists()


@pytest.mark.parametrize("error", triggers.errors())
def test_trigger_refuses_with_any_error_code(api, flows, error):
    triggers.refuse(User, error=error)

    answer = sign_up(api, None, flows)()

    assert answer.error in {(409, "CONFLICT"), (400, "VALIDATION_ERROR")}, answer.body
    assert not User.objects.exists()


@pytest.mark.parametrize("error", triggers.temporary_errors())
def test_trigger_that_reports_a_temporary_error_refuses_no_value(api, flows, error):
    triggers.refuse(User, error=error)

    answer = sign_up(api, None, flows)()

    assert answer.error == (503, "SERVICE_UNAVAILABLE"), answer.body


@pytest.mark.parametrize("number", [1205, 1213, 2006, 2013])
def test_lost_connection_or_lock_refuses_no_value(api, flows, number):
    """The numbers of MariaDB and MySQL; those of the client library come from no server."""

    def lose(execute, sql, params, many, context):
        if sql.startswith("INSERT") and User._meta.db_table in sql:
            raise OperationalError(number, "gone")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(lose):
        answer = sign_up(api, None, flows)()

    assert answer.error == (503, "SERVICE_UNAVAILABLE"), answer.body


@triggers.has_deferred
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("place", PLACES)
def test_row_that_is_refused_at_commit_is_a_clear_error(post, refuse_committed, place):
    api = CommittingApi(raising=False)
    ann = api.sign_up(ANN, username="ann")
    prove(ANN)
    post.jobs.clear()
    save = place(api, ann, Flows(api, post))
    refuse_committed.at_commit()
    before, accounts = rows(), Account.objects.count()

    answer = save()

    assert answer.error == (400, "VALIDATION_ERROR"), answer.body
    assert rows() == before
    assert Account.objects.count() == accounts


@triggers.has_deferred
@pytest.mark.django_db(transaction=True)
def test_worker_reports_a_hidden_sign_up_that_is_refused_at_commit(
    post, configure, refuse_committed, caplog
):
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    Api(raising=False).post("signup", email=BOB, username="bob", password=PASSWORD)
    refuse_committed.at_commit()

    post.outgoing(kinds.SIGNUP)

    assert not User.objects.exists()
    assert f"refuses what the job {kinds.SIGNUP} does" in caplog.text


def test_text_of_the_model_is_that_of_the_field_in_the_request(api, refuse):
    refuse.field()

    answer = api.post("signup", email=BOB, username="bob", password=PASSWORD)

    assert answer.data["message"] == f"email: {NO_DOMAIN}"


@pytest.mark.parametrize("kind", KINDS)
def test_worker_reports_a_hidden_sign_up_that_is_refused(
    api, post, configure, refuse, kind, caplog
):
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    assert api.post("signup", email=BOB, username="bob", password=PASSWORD).status == 201
    getattr(refuse, kind)()
    before = rows()

    with transaction.atomic():
        post.outgoing(kinds.SIGNUP)

    assert rows() == before
    assert "refuses the sign-up" in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_worker_reports_a_magic_link_that_creates_no_account(
    api, post, configure, refuse, kind, caplog
):
    configure(MAGICLINK={"AUTO_REGISTER": True})
    api.post("magic-link/send", email=BOB)
    getattr(refuse, kind)()
    before = rows()

    with transaction.atomic():
        post.outgoing("magic-link")

    assert rows() == before
    assert "refuses an account for a magic link" in caplog.text


def test_sign_up_without_a_unique_address_asks_for_it(api):
    for number in range(2):
        answer = api.post("signup", username=f"user-{number}", password=PASSWORD)
        assert answer.error == (400, "VALIDATION_ERROR")
        assert answer.data["message"] == "email: This field is required."


def of_nickname(**keys):
    return UniqueConstraint(fields=["nickname"], name="one_nickname", **keys)


CONSTANT, NUMBER = Value("x"), Random()
NO_KEY = {"unique": False, "null": False}


@pytest.mark.parametrize(
    ("changes", "constraints", "named"),
    [
        ({}, [], False),
        ({"null": False}, [], True),
        ({"null": False, "default": ""}, [], True),
        ({"null": False, "default": lambda: "x"}, [], False),
        # NULL may be there more than once, but a default is stored instead of it.
        ({"default": "x"}, [], True),
        ({"db_default": CONSTANT}, [], True),
        ({"default": None}, [], False),
        ({"db_default": Value(None)}, [], False),
        ({"db_default": "x"}, [], True),
        ({"default": "x", "db_default": NUMBER}, [], True),  # of the two, Django takes the former
        ({"null": False, "db_default": CONSTANT}, [], True),
        ({"null": False, "db_default": NUMBER}, [], False),
        ({"null": False, "auto_now": True}, [], False),
        (NO_KEY, [], False),
        (NO_KEY, [of_nickname()], True),
        (NO_KEY, [of_nickname(condition=~Q(nickname=""))], False),
        (NO_KEY, [UniqueConstraint(fields=["nickname", "email"], name="both")], False),
        ({**NO_KEY, "null": True}, [of_nickname()], False),
    ],
)
def test_check_names_a_unique_column_that_no_sign_up_fills(
    monkeypatch, changes, constraints, named
):
    field = User._meta.get_field("nickname")
    for name, value in changes.items():
        monkeypatch.setattr(field, name, value, raising=False)
    # It has the default of an unchanged field, if that was asked for.
    monkeypatch.setitem(field.__dict__, "_get_default", type(field)._get_default.func(field))
    monkeypatch.setattr(User._meta, "constraints", constraints)

    found = [one.msg for one in run_checks(tags=["authservice"]) if one.id == "authservice.W083"]

    assert any("StrictUser.nickname is unique" in text for text in found) is named


def test_check_names_a_required_column_that_no_sign_up_fills(monkeypatch):
    def texts():
        found = run_checks(tags=["authservice"])
        return [one.msg for one in found if one.id == "authservice.W083"]

    assert texts() == []
    field = User._meta.get_field("date_joined")
    monkeypatch.setattr(field, "default", NOT_PROVIDED)
    monkeypatch.setattr(field, "_get_default", lambda: None)

    assert "StrictUser.date_joined is required" in texts()[0]


def test_check_says_that_an_address_is_required():
    found = [one.msg for one in run_checks(tags=["authservice"]) if one.id == "authservice.I084"]

    assert any(".email is unique and not null" in text for text in found)
