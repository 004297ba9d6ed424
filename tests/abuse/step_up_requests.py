"""Requests with a passkey and of a step-up, with their secrets."""

from functools import partial

from tests.passkeys.people import Holder, begin_login, finish_login
from tests.support.client import PASSWORD
from tests.support.flows import ANN


def _holder(world):
    return Holder(world.api, ANN, token=world.ann.token, user_id=world.ann.user_id)


def new_passkey(world):
    person = _holder(world)
    begun = person.options()
    credential = person.device.create(begun["options"])
    secrets = {begun["request_token"], person.token}
    return secrets, partial(person.add, credential, begun=begun)


def passkey_login(world):
    person = _holder(world)
    person.enrol()
    begun = begin_login(world.api)
    request = partial(finish_login, world.api, begun, person.sign(begun))
    return {begun["request_token"]}, request


def _challenge(world, **asked):
    answer = world.ann.post("step-up", **asked)
    assert answer.status == 200, answer.body
    return answer.data["challenges"][0]["data"]


def _answered(world, challenge, **proof):
    token = challenge["temp_token"]
    request = partial(world.ann.post, "step-up/verify", temp_token=token, **proof)
    return {token, world.ann.token}, request


def by_password(world):
    secrets, request = _answered(world, _challenge(world), password=PASSWORD)
    return secrets | {PASSWORD}, request


def by_code(world):
    world.ann.enrol()
    world.clock.forward(seconds=30)
    code = world.ann.code()
    secrets, request = _answered(world, _challenge(world), code=code)
    return secrets | {code}, request


def by_passkey(world):
    person = _holder(world)
    person.enrol()
    challenge = _challenge(world, acr="phr")
    return _answered(world, challenge, credential=person.device.get(challenge["passkey"]))
