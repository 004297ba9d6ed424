"""Flood limits: so many requests of an address, and who counts as one."""

import pytest
from django.core.cache import cache

from tests.client import PASSWORD
from tests.people import users

pytestmark = pytest.mark.django_db

FLOOD = (429, "TOO_MANY_REQUESTS")


@pytest.fixture
def sign_up(api, clock):
    """Sign up as somebody new, from an address and with headers."""
    number = iter(range(1000))

    def sign_up(address="192.0.2.1", **headers):
        body = {"email": f"ann{next(number)}@example.com", "password": PASSWORD}
        return api.request("POST", "signup", body, headers=headers, REMOTE_ADDR=address)

    return sign_up


def test_twenty_signups_an_hour_and_no_more(sign_up):
    assert [sign_up().status for _ in range(21)] == [201] * 20 + [429]
    assert users() == 20


def test_the_refusal_says_when_to_come_back(sign_up, clock):
    for _ in range(20):
        sign_up()
    clock.forward(minutes=10)

    answer = sign_up()

    assert answer.error == FLOOD
    assert answer.headers["Retry-After"] == str(50 * 60)


def test_coming_back_then_is_enough(sign_up, clock):
    for _ in range(20):
        sign_up()
    clock.forward(seconds=int(sign_up().headers["Retry-After"]))

    assert sign_up().status == 201


def test_refused_signups_count_too(api, clock):
    statuses = [api.post("signup", email="nobody").status for _ in range(21)]

    assert statuses == [400] * 20 + [429]


def test_another_address_is_counted_apart(sign_up):
    for _ in range(20):
        sign_up("192.0.2.1")

    assert sign_up("192.0.2.2").status == 201


def test_other_routes_are_counted_apart(api, sign_up):
    for _ in range(21):
        sign_up()

    assert api.post("login", email="nobody@example.com", password="x").status == 401


def test_the_addresses_of_one_ipv6_network_count_as_one(sign_up):
    for host in range(20):
        sign_up(f"2001:db8:1:2::{host:x}")

    assert sign_up("2001:db8:1:2:ffff:ffff:ffff:ffff").error == FLOOD
    assert sign_up("2001:db8:1:3::1").status == 201


def test_ipv4_in_ipv6_counts_as_ipv4(sign_up):
    for _ in range(20):
        sign_up("192.0.2.1")

    assert sign_up("::ffff:192.0.2.1").error == FLOOD
    assert sign_up("::ffff:192.0.2.2").status == 201


def test_an_address_that_is_none_crashes_nothing(sign_up):
    assert {sign_up(address).status for address in ("", "unix:", "fe80::1%eth0")} == {201}


def test_x_forwarded_for_is_not_believed_by_default(sign_up):
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"203.0.113.{number}"})

    assert sign_up(**{"X-Forwarded-For": "198.51.100.1"}).error == FLOOD


def test_behind_a_trusted_proxy_the_address_it_saw_counts(sign_up, configure):
    configure(TRUSTED_PROXIES=1)
    for _ in range(20):
        sign_up(**{"X-Forwarded-For": "203.0.113.1"})

    assert sign_up(**{"X-Forwarded-For": "203.0.113.1"}).error == FLOOD
    assert sign_up(**{"X-Forwarded-For": "203.0.113.2"}).status == 201


def test_what_a_client_puts_before_a_trusted_proxys_entry_is_not_believed(sign_up, configure):
    configure(TRUSTED_PROXIES=1)
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.1"})

    assert sign_up(**{"X-Forwarded-For": "198.51.100.99,203.0.113.1"}).error == FLOOD


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if "TRUSTED_PROXIES" in one.getMessage()]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
def test_forwarding_header_without_trusted_proxies_is_logged_once(
    sign_up, configure, caplog, header
):
    configure(TRUSTED_PROXIES=0)
    for _ in range(3):
        sign_up(**{header: "for=203.0.113.1"})

    (said,) = warnings(caplog)
    assert f"header {header}," in said
    assert "203.0.113.1" not in said


@pytest.mark.parametrize("proxies", [1, None])
def test_forwarding_header_of_a_known_proxy_is_not_logged(sign_up, configure, caplog, proxies):
    configure(TRUSTED_PROXIES=proxies)
    sign_up(**{"X-Forwarded-For": "203.0.113.1"})

    assert warnings(caplog) == []


def test_request_without_a_forwarding_header_is_not_logged(sign_up, configure, caplog):
    configure(TRUSTED_PROXIES=0)
    sign_up()

    assert warnings(caplog) == []


def test_without_a_proxy_the_peer_counts(sign_up, configure):
    configure(TRUSTED_PROXIES=None)
    for number in range(20):
        sign_up(**{"X-Forwarded-For": f"203.0.113.{number}"})

    assert sign_up(**{"X-Forwarded-For": "203.0.113.99"}).error == FLOOD


@pytest.mark.parametrize("chain", ["", "203.0.113.5", ","])
def test_a_chain_shorter_than_promised_falls_back_to_the_peer(sign_up, configure, chain):
    configure(TRUSTED_PROXIES=2)
    for _ in range(20):
        sign_up()

    assert sign_up(**{"X-Forwarded-For": chain}).error == FLOOD


def test_flood_limits_can_be_turned_off(sign_up, configure):
    configure(THROTTLE={"ENABLED": False})

    assert {sign_up().status for _ in range(25)} == {201}


def test_a_rate_is_a_setting(sign_up, configure):
    configure(THROTTLE={"RATES": {"signup": "2/10min"}})

    assert [sign_up().status for _ in range(3)] == [201, 201, 429]


def test_guesses_of_one_address_at_many_names_are_limited(api, clock):
    errors = [
        api.post("login", email=f"nobody{n}@example.com", password="x").error for n in range(101)
    ]

    assert errors == [(401, "INVALID_CREDENTIALS")] * 100 + [FLOOD]


def test_an_address_that_is_shut_out_cannot_shut_the_doors_of_others(api, clock):
    api.sign_up()
    for number in range(100):
        api.post("login", email=f"nobody{number}@example.com", password="x")
    for _ in range(10):
        assert api.post("login", email="ann@example.com", password="x").error == FLOOD

    body = {"email": "ann@example.com", "password": PASSWORD}
    assert api.request("POST", "login", body, REMOTE_ADDR="192.0.2.9").status == 200


def test_logins_that_succeed_are_no_guesses(api, clock):
    api.sign_up()

    for _ in range(105):
        api.log_in()


def test_sixty_refreshes_a_minute_of_one_sign_in_and_no_more(api, clock, configure):
    configure(REFRESH_TOKEN_ROTATION=False)
    token = api.sign_up()["refresh_token"]

    statuses = [api.post("refresh", refresh_token=token).status for _ in range(61)]

    assert statuses == [200] * 60 + [429]


def test_anything_else_is_limited_to_six_hundred_a_minute(api, clock):
    statuses = {api.get("me").status for _ in range(600)}

    assert statuses == {401}
    assert api.get("me").error == FLOOD


def test_a_cache_that_is_away_closes_no_door(sign_up, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1",
        }
    }

    assert sign_up().status == 201


def test_the_counter_in_the_cache_names_no_address(sign_up):
    sign_up("192.0.2.77")

    assert "192.0.2.77" not in str(cache._cache.keys())
