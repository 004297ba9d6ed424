"""Every way to log in on a new device notifies the owner of the account, with a clock that runs.

If one request reads the clock twice, the session that it begins is older than the request, so the
notice finds a recent session with the same browser: its own.
"""

import pytest
from django.contrib.auth import user_logged_in

from authservice.core.credentials import lockout
from authservice.core.login import host_hooks
from authservice.core.messages.kinds import NEW_DEVICE
from authservice.core.models import Session
from authservice.core.users import lookup
from tests.core.login_matrix.login_paths import LOGIN_PATHS
from tests.core.login_matrix.test_matrix import (
    CONTINUED,
    INVITED_NEW,
    NEW,
    NEW_BY_PROVIDER,
    OLD,
    OWN_SESSION,
)
from tests.support.client import PASSWORD
from tests.support.flows import ANN
from tests.support.people import make_user, the_user
from tests.support.slots import listening
from tests.support.statements import statements

# A sign-up has no former device; a session that goes on has no new one.
OTHER = {*NEW, *NEW_BY_PROVIDER, *INVITED_NEW, *OLD, *CONTINUED, *OWN_SESSION}
PATHS = [path for path in LOGIN_PATHS if str(path) not in OTHER]
# The factor that it sets up ends all earlier sessions, which are no longer trusted.
FAMILIAR = [path for path in PATHS if str(path) != "first enrolment"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS, ids=str)
def test_login_on_a_new_device_is_mailed_to_the_owner(world, path):
    proof = path.prepare(world)
    Session.objects.update(ip_address="192.0.2.1")  # where Ann logged in before
    world.post.jobs.clear()

    path.complete(world, proof)

    notice = world.post.outgoing(NEW_DEVICE)
    assert notice is not None
    assert notice.to == world.ann.email


@pytest.mark.django_db
@pytest.mark.parametrize("path", FAMILIAR, ids=str)
def test_login_with_a_familiar_browser_is_not_mailed(world, path):
    proof = path.prepare(world)
    world.post.jobs.clear()

    path.complete(world, proof)

    assert world.post.outgoing(NEW_DEVICE) is None


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS, ids=str)
def test_login_stores_one_time(world, path):
    proof = path.prepare(world)

    path.complete(world, proof)

    session = Session.objects.select_related("user").latest("created_at")
    began = {session.created_at, session.auth_time, session.last_used_at, session.refreshed_at}
    assert began == {session.user.last_login}


@pytest.fixture
def _no_last_login():
    """A project that does not store `last_login`."""
    assert user_logged_in.disconnect(dispatch_uid="update_last_login")
    yield
    user_logged_in.connect(host_hooks.write_last_login, dispatch_uid="update_last_login")


@pytest.fixture
def new_devices():
    """How often a login on a new device was recorded."""
    recorded = []
    with listening(recorded.append):
        yield lambda: [event.action for event in recorded].count("security.new_device")


@pytest.mark.django_db
@pytest.mark.usefixtures("_no_last_login")
@pytest.mark.parametrize("revoked", [False, True], ids=["", "all devices revoked"])
def test_second_login_is_on_a_new_device_without_last_login(api, new_devices, revoked):
    make_user()
    api.log_in()
    assert new_devices() == 0
    if revoked:
        lockout.revoke_devices(lookup.get_person(the_user()))

    api.log_in()

    assert the_user().last_login is None
    assert new_devices() == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("_no_last_login")
def test_login_after_a_signup_is_on_a_new_device_without_last_login(api, new_devices):
    api.sign_up()
    assert new_devices() == 0

    api.log_in()

    assert new_devices() == 1


@pytest.mark.django_db
def test_first_login_after_a_signup_without_one_is_on_no_new_device(api, new_devices, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    assert api.post("signup", email=ANN, password=PASSWORD).status == 201
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": False})

    api.log_in()

    assert new_devices() == 0


@pytest.mark.django_db
def test_login_reads_no_session_to_find_out_whether_it_is_the_first(api):
    make_user()

    sent = statements(api.log_in) + statements(api.log_in)

    table = Session._meta.db_table
    assert any(table in sql for sql in sent)
    assert not [sql for sql in sent if sql.startswith("SELECT") and table in sql]
