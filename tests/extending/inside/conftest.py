import pytest

from tests.extending.people import models
from tests.support.client import PASSWORD
from tests.support.documented import Page
from tests.support.flows import CommittingApi
from tests.support.messenger.post import receiving_jobs

PAGE = Page("extending")
SERIALIZERS = "tests.extending.people.serializers."
ANN = {
    "email": "ann@example.com",
    "password": PASSWORD,
    "full_name": "Ann Lee",
    "born": "1990-02-03",
}


@pytest.fixture(autouse=True)
def post():
    """Receives the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def _documented_files():
    with PAGE.installed("serializers", "profiles", models=models):
        yield


@pytest.fixture
def use(configure):
    """`use("Badge")` sets both serializers; further keywords are other settings of core."""

    def use(name="", **core):
        path = SERIALIZERS + name if name else ""
        configure(CORE={"SIGNUP_SERIALIZER": path, "PROFILE_SERIALIZER": path, **core})

    return use


@pytest.fixture
def documented(configure):
    """The settings of the page: 0 for columns of the user model, 1 for a profile."""

    def use(number, **core):
        configure(CORE={**PAGE.settings()[number]["AUTHSERVICE"]["CORE"], **core})

    return use


@pytest.fixture
def sign_up(api):
    """`sign_up(born="…")` signs Ann up with other values; None leaves a field out."""

    def sign_up(**changes):
        body = {name: value for name, value in {**ANN, **changes}.items() if value is not None}
        return api.post("signup", **body)

    return sign_up
