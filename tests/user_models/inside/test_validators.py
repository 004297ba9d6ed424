"""Validators with `password_changed` see each new password once, whatever route sets it."""

import pytest
from django.contrib.auth import get_user_model

from tests.oauth.in_process import SETTINGS, office
from tests.support.flows import ANN, prove
from tests.user_models.inside.places import PLACES, SET_PASSWORD

pytestmark = pytest.mark.django_db

seen = []  # (primary key, password) of each call


class Recorder:
    def validate(self, password, user=None):
        pass

    def password_changed(self, password, user=None):
        seen.append((user.pk, password))

    def get_help_text(self):
        return ""


@pytest.fixture(autouse=True)
def _settings(settings, configure):
    settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": f"{__name__}.Recorder"}]
    office.reset()
    configure(
        THROTTLE={"ENABLED": False},
        OAUTH={"PROVIDERS": {"acme": SETTINGS}},
        INVITATION={"WHO_MAY_INVITE": "everyone"},
    )


@pytest.mark.parametrize("place", PLACES)
def test_validators_see_a_new_password_once_and_no_other(api, post, flows, place):
    ann = api.sign_up(ANN, username="ann")
    prove(ANN)
    post.jobs.clear()
    save = place(api, ann, flows)
    seen.clear()

    assert save().status in (200, 201, 302)

    assert len(seen) == (place in SET_PASSWORD)
    for pk, password in seen:
        assert get_user_model().objects.get(pk=pk).check_password(password)
