"""What works once does so among 32 clients at once."""

from functools import partial

import pytest

from authservice.core.models import OneTimeToken, Session
from authservice.core.users import lookup
from authservice.kernel.levels import Record
from authservice.oauth.models import LinkedAccount
from authservice.passkeys.models import Passkey
from tests.oauth import in_process as provider
from tests.oauth.browsing import Browser, profile
from tests.passkeys.authenticator import Authenticator
from tests.passkeys.people import Holder, finish_login
from tests.races.crowd import SIZE, tally
from tests.support.client import Api


@pytest.fixture
def api() -> Api:
    return Api(raising=False)


def signed_up(api, number):
    return Holder(api, f"ann{number}@example.com", Authenticator()).sign_up()


def test_one_answer_logs_in_once(crowd, rounds, api):
    for number in rounds:
        ann = signed_up(api, number)
        ann.enrol()
        begun = ann.login_options()
        credential = ann.sign(begun)

        answers = crowd.all_do(partial(finish_login, api, begun, credential))

        assert tally(answers) == {200: 1, "PASSKEY_INVALID": SIZE - 1}
        assert Session.objects.filter(user=ann.user_id, method="passkey").count() == 1


def test_passkey_is_added_to_one_account(crowd, rounds, api):
    for number in rounds:
        ann, bob = signed_up(api, f"{number}a"), signed_up(api, f"{number}b")
        requests = []
        made = None
        for holder in (ann, bob):
            begun = holder.options()
            credential = holder.device.create(begun["options"], credential=made)
            made = holder.device.credentials[0]
            requests.append(partial(holder.add, credential, begun=begun))

        answers = crowd.race(requests * (SIZE // 2))

        counted = tally(answers)
        assert counted[201] == 1
        assert counted["PASSKEY_EXISTS"] >= 1
        assert set(counted) <= {201, "PASSKEY_INVALID", "PASSKEY_EXISTS"}
        assert Passkey.objects.count() == 1
        Passkey.objects.all().delete()


def test_answer_adds_one_passkey(crowd, rounds, api):
    for number in rounds:
        ann = signed_up(api, number)
        begun = ann.options()
        credential = ann.device.create(begun["options"])

        answers = crowd.all_do(partial(ann.add, credential, begun=begun))

        assert tally(answers)[201] == 1
        assert Passkey.objects.filter(user=ann.user_id).count() == 1


def test_last_two_ways_to_log_in_are_not_both_removed(crowd, rounds, api):
    for number in rounds:
        ann = signed_up(api, number)
        added = [ann.enrol()["id"] for _ in range(2)]
        user = lookup.find_by_email(ann.email).user
        user.set_unusable_password()
        user.save()
        tokens = [ann.log_in().data["access_token"] for _ in range(2)]
        requests = [
            partial(api.request, "DELETE", f"passkeys/{passkey_id}", token=token)
            for passkey_id, token in zip(added, tokens, strict=True)
        ]

        answers = crowd.race(requests * (SIZE // 2))

        assert tally(answers)[200] == 1
        assert not [answer for answer in answers if answer.status >= 500]
        assert Passkey.objects.filter(user=ann.user_id).count() == 1


@pytest.fixture
def acme(configure):
    """A provider that users can link."""
    provider.office.reset()
    configure(OAUTH={"PROVIDERS": {"acme": provider.SETTINGS}})


@pytest.mark.usefixtures("acme")
def test_last_passkey_and_last_provider_are_not_both_removed(crowd, rounds, api):
    for number in rounds:
        ann = signed_up(api, number)
        passkey_id = ann.enrol()["id"]
        who = profile(f"ann{number}-at-acme", ann.email)
        assert Browser(api).link(ann.token, who).status == 200
        user = lookup.find_by_email(ann.email).user
        user.set_unusable_password()
        user.save()
        tokens = [ann.log_in().data["access_token"] for _ in range(2)]
        requests = [
            partial(api.request, "DELETE", path, token=token)
            for path, token in zip([f"passkeys/{passkey_id}", "oauth/acme"], tokens, strict=True)
        ]

        answers = crowd.race(requests * (SIZE // 2))

        assert tally(answers)[200] == 1
        assert not [answer for answer in answers if answer.status >= 500]
        passkeys = Passkey.objects.filter(user=ann.user_id).count()
        assert passkeys + LinkedAccount.objects.filter(user=ann.user_id).count() == 1


def step_ups(ann, tokens):
    """A step-up by the passkey for each of these sessions."""
    for token in tokens:
        asked = ann.api.post("step-up", token=token, acr="phr").data["challenges"][0]["data"]
        proof = {"temp_token": asked["temp_token"], "credential": ann.device.get(asked["passkey"])}
        yield partial(ann.api.post, "step-up/verify", token=token, **proof)


@pytest.mark.parametrize("step", [0, 1], ids=["no counter", "counter"])
def test_step_up_and_removal_leave_no_level_without_its_passkey(crowd, rounds, api, step):
    for number in rounds:
        ann = signed_up(api, number)
        ann.device.step = step
        passkey_id = ann.enrol()["id"]
        tokens = [ann.token, *(api.log_in(ann.email)["access_token"] for _ in range(3))]
        steps = [*step_ups(ann, tokens + tokens)] * (SIZE // len(tokens))
        remove = partial(ann.delete, f"passkeys/{passkey_id}")

        removed, *answers = crowd.race([remove, *steps[: SIZE - 1]])

        assert removed.status == 200
        assert set(tally(answers)) <= {200, "PASSKEY_INVALID", "INVALID_TOKEN"}
        live = Session.objects.filter(user=ann.user_id, ended_at=None)
        assert len(live) == len(tokens)
        assert [Record(session.levels).last("phr") for session in live] == [None] * len(tokens)


def test_step_up_by_a_passkey_counts_once(crowd, rounds, api):
    for number in rounds:
        ann = signed_up(api, number)
        ann.device.step = 0
        ann.enrol()
        (step,) = step_ups(ann, [ann.token])

        answers = crowd.all_do(step)

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, "PASSKEY_INVALID", "INVALID_TOKEN"}


def test_each_answer_leaves_one_row(crowd, api):
    ann = signed_up(api, 0)
    ann.enrol()
    OneTimeToken.objects.all().delete()
    begun = ann.login_options()
    credential = ann.sign(begun)

    crowd.all_do(partial(finish_login, api, begun, credential))

    assert OneTimeToken.objects.filter(purpose="passkey").count() == 1
