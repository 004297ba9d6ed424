"""Every route that takes a code takes it as apps show it and people type and paste it."""

import pytest

from authservice.kernel import secret
from authservice.kernel.http.fields import TypedCode
from tests.support.client import PASSWORD
from tests.support.flows import NEW, PHONE, prove, wrong
from tests.support.routes import endpoints

pytestmark = pytest.mark.django_db

ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
DEVANAGARI = str.maketrans("0123456789", "०१२३४५६७८९")
FULL_WIDTH = {ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)}
SPELLINGS = {
    "a space": lambda code: f"{code[:3]} {code[3:]}",
    "spaces around": lambda code: f"  {code} ",
    "a no-break space": lambda code: f"{code[:3]}\u00a0{code[3:]}",
    "a narrow no-break space": lambda code: f"{code[:3]}\u202f{code[3:]}",
    "a line end": lambda code: f"{code}\n",
    "a Windows line end": lambda code: f"{code}\r\n",
    "a tab": lambda code: f"\t{code}",
    "a hyphen": lambda code: f"{code[:3]}-{code[3:]}",
    "a non-breaking hyphen": lambda code: f"{code[:3]}\u2011{code[3:]}",
    "a dash": lambda code: f"{code[:3]}\u2013{code[3:]}",
    "a minus sign": lambda code: f"{code[:3]}\u2212{code[3:]}",
    "a zero-width space": lambda code: f"{code}\u200b",
    "marks of direction": lambda code: f"\u202a{code}\u202c",
    "Arabic-Indic digits": lambda code: code.translate(ARABIC),
    "Devanagari digits": lambda code: code.translate(DEVANAGARI),
    "full-width digits": lambda code: code.translate(FULL_WIDTH),
}


def own(world, path, **body):
    return world.ann.post(path, **body)


def enrolled(world):
    world.ann.enrol()
    world.clock.forward(seconds=30)
    return world.ann.code()


def confirm(world, spell):
    world.ann.set_up()
    code = world.ann.code()
    return [lambda: own(world, "2fa/verify", code=spell(code))], None


def log_in(world, spell):
    code, again = enrolled(world), None
    first, again = world.ann.temp_token(), world.ann.temp_token()
    used = lambda token: lambda: world.ann.verify_login(spell(code), token)  # noqa: E731
    return [used(first)], used(again)


def backup_code(world, spell):
    enrolled(world)
    code = world.ann.backup_codes[0]
    first, again = world.ann.temp_token(), world.ann.temp_token()
    used = lambda token: lambda: world.ann.verify_login(spell(code), token)  # noqa: E731
    return [used(first)], used(again)


def renew(world, spell):
    code = enrolled(world)
    act = lambda: own(world, "2fa/backup-codes", code=spell(code))  # noqa: E731
    return [act], act


def disable(world, spell):
    code = enrolled(world)
    act = lambda: own(world, "2fa/disable", code=spell(code))  # noqa: E731
    return [act], None


def change_username(world, spell):
    code = enrolled(world)
    body = {"username": "ann.b", "password": PASSWORD}
    act = lambda: world.api.request(  # noqa: E731
        "PUT", "change-username", {**body, "code": spell(code)}, token=world.ann.token
    )
    return [act], None


def magic_link(world, spell):
    code = world.magic.mailed().code
    act = lambda: world.magic.type(spell(code))  # noqa: E731
    return [act], act


def with_number(world):
    body = {"phone": PHONE, "password": PASSWORD}
    world.api.request("PUT", "profile", body, token=world.ann.token)


def verify_phone(world, spell):
    with_number(world)
    code = world.flows.phone_code(token=world.ann.token)
    act = lambda: world.flows.verify_phone(spell(code), token=world.ann.token)  # noqa: E731
    return [act], act


def reset(world, spell):
    with_number(world)
    prove(phone=PHONE)
    code = world.flows.reset_code()
    act = lambda: world.flows.reset_by_code(spell(code), new_password=NEW)  # noqa: E731
    return [act], act


WAYS = (
    confirm,
    log_in,
    backup_code,
    renew,
    disable,
    change_username,
    magic_link,
    verify_phone,
    reset,
)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_code_is_accepted_in_every_spelling(world, way, spelling):
    [first], again = way(world, SPELLINGS[spelling])

    assert first().status in (200, 204)

    if again is not None:
        assert again().status in (400, 401)


@pytest.mark.parametrize("spelling", ["a space", "Arabic-Indic digits", "a line end"])
def test_used_code_is_refused_in_another_spelling(world, spelling):
    code = enrolled(world)
    assert world.ann.verify_login(code).status == 200

    assert world.ann.verify_login(SPELLINGS[spelling](code)).status == 401


def test_wrong_code_is_wrong_in_every_spelling(world):
    code = wrong(enrolled(world))

    assert {
        world.ann.verify_login(spell(code)).error for spell in list(SPELLINGS.values())[:9]
    } == {(401, "TWO_FACTOR_INVALID")}


@pytest.mark.parametrize("text", ["½23456", "Ⅻ3456", "12345", "1234567", "ⅰ23456", "12.3456"])
def test_other_text_is_no_code(world, text):
    code = world.magic.mailed().code

    assert world.magic.type(text).status == 400
    assert world.magic.type(code).status == 200


def test_every_route_reads_its_code_as_typed(world):
    bodies = {
        (path, name): operation.body().fields["code"]
        for path, view in endpoints()
        if not path.startswith("oauth/")  # that code is the provider's, and no person types it
        for name in view.actions.values()
        if (operation := getattr(getattr(view.cls, name), "operation", None)) is not None
        and operation.body is not None
        and "code" in operation.body().fields
    }

    assert len(bodies) >= len(WAYS)
    assert [at for at, field in bodies.items() if not isinstance(field, TypedCode)] == []


def test_reader_keeps_other_characters():
    assert secret.typed_code("ABCD-efgh 2ßﬁ") == "ABCDefgh2ßﬁ"
