"""The token is in the mail alone: in no response, list, row, event or log line."""

import logging

import pytest
from django.apps import apps

from authservice import signals
from authservice.invitation.models import PlatformInvitation
from tests.invitation.invites import BOB

pytestmark = pytest.mark.django_db


def stored():
    ours = [config for config in apps.get_app_configs() if config.name.startswith("authservice.")]
    models = [model for config in ours for model in config.get_models()]
    return str([list(model._base_manager.values()) for model in models])


def test_token_is_nowhere_but_in_the_mail(api, invites, bob, received, caplog):
    caplog.set_level(logging.DEBUG)
    events = [received(getattr(signals, name)) for name in ("invitation_sent", "logged_in")]
    answers = [invites.send()]
    sent = answers[0].data["id"]
    token = invites.read()
    answers += [
        api.get("invitations", token=invites.token),
        api.get("invitations/my", token=bob["access_token"]),
        invites.accept(token),
        invites.cancel(sent),
        invites.decline(token),
    ]
    texts = [answer.response.content.decode() + str(answer.headers) for answer in answers]

    digest = PlatformInvitation.objects.get().token_digest
    for secret in (token, digest):
        assert secret not in "".join(texts)
        assert secret not in caplog.text + str(events) + str(invites.post.jobs)
    assert token not in stored()


def test_job_and_response_of_a_new_invitation_do_not_tell_whether_there_is_an_account(
    api, invites, bob, post
):
    known, unknown = invites.send(BOB).data, invites.send("carol@example.com").data

    assert set(known) == set(unknown)
    assert {key: known[key] for key in ("status", "purpose", "metadata")} == {
        key: unknown[key] for key in ("status", "purpose", "metadata")
    }
    first, second = post.jobs
    assert set(first.details) == set(second.details)
