"""A deletion beside a login, a refresh and a change of the same account."""

from functools import partial

from authservice.core.models import Account, Session
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD


def test_login_refresh_and_change_beside_a_deletion_leave_nothing(crowd, api, rounds, configure):
    configure(CORE={"ALLOW_SELF_DELETE": True}, THROTTLE={"ENABLED": False})
    for number in rounds:
        email = f"ann{number}@example.com"
        tokens = api.sign_up(email)
        pk, token = tokens["user"]["id"], tokens["access_token"]
        proof = {"password": PASSWORD}
        rename = {**proof, "username": f"anna{number}"}
        move = {**proof, "email": f"eve{number}@example.com"}
        delete = partial(api.request, "DELETE", "me", proof, token=token)
        others = [
            partial(api.post, "login", email=email, password=PASSWORD),
            partial(api.post, "refresh", refresh_token=tokens["refresh_token"]),
            partial(api.request, "PUT", "profile", {"name": "Ann"}, token=token),
            partial(api.request, "PUT", "change-username", rename, token=token),
            partial(api.request, "POST", "change-email", move, token=token),
        ]

        deleted, *rest = crowd.race([delete, *others * (SIZE // len(others) - 1)])

        assert deleted.status == 200
        assert 500 not in {answer.status for answer in rest}
        assert not Account.objects.filter(pk=pk).exists()
        assert not Session.objects.filter(user=pk).exists()
        assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_concurrent_deletions_delete_the_account_once(crowd, api, rounds, configure):
    configure(CORE={"ALLOW_SELF_DELETE": True}, THROTTLE={"ENABLED": False})
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]
        contender = partial(api.request, "POST", "me/delete", {"password": PASSWORD}, token=token)

        answers = crowd.race([contender] * 8)

        assert tally(answers)[200] == 1
        assert set(tally(answers)) <= {200, "INVALID_TOKEN", "INVALID_CREDENTIALS"}
