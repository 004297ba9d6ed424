"""Every way to log in on a new device notifies the owner of the account, with a clock that runs.

If one request reads the clock twice, the session that it begins is older than the request, so the
notice finds a recent session with the same browser: its own.
"""

import pytest

from authservice.core.messages.kinds import NEW_DEVICE
from authservice.core.models import Session
from tests.core.login_matrix.login_paths import LOGIN_PATHS
from tests.core.login_matrix.test_matrix import (
    CONTINUED,
    INVITED_NEW,
    NEW,
    NEW_BY_PROVIDER,
    OLD,
    OWN_SESSION,
)

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
