"""The device grant (RFC 8628): a device without a browser, and the person who allows it in one."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import DeviceCodeStep, DeviceDoneStep, DeviceStep, LoginStep, RefusedStep, StartAgainStep
from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.authorize import device_verification
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.visitors.answered_step import AnsweredStep

GRANTS = [DEVICE_GRANT, "refresh_token"]


@pytest.fixture
def tv(world: World) -> RelyingParty:
    """An application on a device, which can keep no secret."""
    return world.application("tv", secret=None, client_id="tv", grant_types=GRANTS, redirect_uris=[])


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "tokens")


def started(client: RelyingParty, **changed: str | None) -> dict[str, Any]:
    answer = client.start_device(**changed)
    assert answer.status_code == 200, answer.text
    return answer.json or {}


def confirmation(browser: Browser, stored: dict[str, Any]) -> AnsweredStep:
    step = browser.type_code(stored["user_code"])
    assert step.kind is DeviceStep, step
    return step


def test_device_gets_tokens_once_a_person_allowed_it(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv, scope="openid email offline_access")
    assert re.fullmatch(r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", stored["user_code"])
    assert (stored["verification_uri"], stored["expires_in"], stored["interval"]) == (f"{tv.hub_url}/device", 300, 5)
    assert stored["verification_uri_complete"] == f"{tv.hub_url}/device?user_code={stored['user_code']}"
    assert status_and_error(tv.poll(stored["device_code"])) == (400, "authorization_pending")
    step = confirmation(browser.signed_in(ada), stored)
    assert step.relying_party is not None
    assert (step.relying_party.name, step.person.label if step.person else "") == ("tv", ada.email)
    assert (step.user_code, step.device.address) == (stored["user_code"], tv.address)
    assert [scope.name for scope in step.scopes] == ["openid", "email", "offline_access"]
    done = browser.allow_device(step.interaction_id)
    assert (done.kind, done.outcome) == (DeviceDoneStep, "allowed")
    tokens = tv.poll(stored["device_code"]).json or {}
    assert (tokens["scope"], claims_in(tokens["id_token"])["sub"]) == ("openid email offline_access", ada.uid)
    assert (tv.userinfo(tokens["access_token"]).json or {})["email"] == ada.email
    assert tv.refresh(tokens["refresh_token"]).status_code == 200
    assert status_and_error(tv.poll(stored["device_code"])) == (400, "invalid_grant"), "a code is good for one exchange"


def test_signed_out_person_signs_in_first(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv, scope="openid")
    step = browser.type_code(stored["user_code"].lower().replace("-", " "))
    assert (step.kind, step.relying_party.name if step.relying_party else "") == (LoginStep, "tv")
    step = browser.sign_in(step.interaction_id, ada.email, ada.password)
    assert step.kind is DeviceStep
    assert browser.resume(step.interaction_id or "").kind is DeviceStep
    assert status_and_error(tv.poll(stored["device_code"]))[1] == "authorization_pending", "a sign-in is no permission"
    assert browser.allow_device(step.interaction_id).outcome == "allowed"
    assert tv.poll(stored["device_code"]).status_code == 200


def test_drawn_user_code_of_another_device_is_drawn_again(
    tv: RelyingParty, browser: Browser, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["BCDFGHJK", "BCDFGHJK", "BCDFGHJK", "LMNPQRST"])
    monkeypatch.setattr(randomness, "user_code", lambda: next(drawn))
    first, second = started(tv), started(tv)
    assert (first["user_code"], second["user_code"]) == ("BCDF-GHJK", "LMNP-QRST")
    browser.signed_in(ada)
    assert browser.allow_device(confirmation(browser, first).interaction_id).outcome == "allowed"
    assert tv.poll(first["device_code"]).status_code == 200
    assert status_and_error(tv.poll(second["device_code"]))[1] == "authorization_pending"


def test_denied_device_gets_no_tokens(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv)
    step = confirmation(browser.signed_in(ada), stored)
    assert browser.allow_device(step.interaction_id, allow=False).outcome == "denied"
    assert browser.allow_device(step.interaction_id, allow=True).outcome == "denied", "the first answer is final"
    for _ in range(2):
        assert status_and_error(tv.poll(stored["device_code"])) == (400, "access_denied")


def test_device_that_asks_too_often_must_slow_down(services: IdentityServices, tv: RelyingParty) -> None:
    """RFC 8628 section 3.5: each early poll makes the interval five seconds longer."""
    stored = started(tv)
    results = [status_and_error(tv.poll(stored["device_code"]))[1] for _ in range(3)]
    assert results == ["authorization_pending", "slow_down", "slow_down"]
    with moved(services, seconds=12):
        assert status_and_error(tv.poll(stored["device_code"]))[1] == "slow_down"
    with moved(services, seconds=33):
        assert status_and_error(tv.poll(stored["device_code"]))[1] == "authorization_pending"


def test_codes_expire(
    services: IdentityServices, world: World, tv: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored, expired = started(tv), started(tv)
    step = confirmation(browser.signed_in(ada), expired)
    with moved(services, seconds=301):
        assert browser.type_code(stored["user_code"]).kind is DeviceCodeStep
        assert status_and_error(tv.poll(stored["device_code"])) == (400, "expired_token")
        done = browser.allow_device(step.interaction_id)
        assert (done.kind, done.outcome) == (DeviceDoneStep, "expired")
        assert status_and_error(tv.poll(expired["device_code"])) == (400, "expired_token")
    world.change(tv, device_code_seconds=1_800)
    assert started(tv)["expires_in"] == 1_800


@pytest.mark.parametrize("typed", ["", "BBBB-BBBB", "BBBB", "<script>", "x" * 40, "ßßßß-ßßßß", "١٢٣٤-١٢٣٤"])
def test_wrong_user_code_leads_back_to_the_field(browser: Browser, ada: Person, typed: str) -> None:
    step = browser.signed_in(ada).type_code(typed)
    assert (step.kind, step.interaction_id) == (DeviceCodeStep, None)


FULL_WIDTH = {ord(letter): ord(letter) + 0xFEE0 for letter in "BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz-"}


@pytest.mark.parametrize(
    "written",
    ["{}-{}", "{}{}", " {} {} ", "{}–{}", "{}−{}", "{}ー{}", "{}\u2011{}", "\u200e{}\u00a0{}", "full width", "full width, lower"],
)  # fmt: skip
def test_user_code_is_read_as_people_type_it(tv: RelyingParty, browser: Browser, ada: Person, written: str) -> None:
    code = started(tv)["user_code"]
    typed = written.format(*code.split("-"))
    if written.startswith("full"):
        typed = (code.lower() if "lower" in written else code).translate(FULL_WIDTH)
    assert browser.signed_in(ada).type_code(typed).kind is DeviceStep
    assert browser.type_code(typed.lower()).kind is DeviceStep


def test_used_user_code_is_wrong(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv)
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    assert browser.type_code(stored["user_code"]).kind is DeviceCodeStep


def test_guesses_of_user_codes_are_limited(browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    body = b'{"UserCode": "BBBB-BBBB"}'
    statuses = [browser.send("POST", "/hub/device", body).status_code for _ in range(22)]
    assert (statuses[0], statuses[-1]) == (200, 429)


def test_wrong_user_codes_of_a_tenant_are_limited(
    world: World, foreign_shop: RelyingParty, tv: RelyingParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 8628 section 5.1: guesses from many networks count together; right codes do not, and no other tenant is hit."""
    monkeypatch.setattr(device_verification, "_WRONG_CODES", Rate(3, 300))
    stored, body = started(tv), b'{"UserCode": "BBBB-BBBB"}'

    def guess(number: int, tenant: str = world.name) -> int:
        browser = Browser(world.services, world.wsgi, tenant, address=f"198.18.0.{number}")
        return browser.send("POST", "/hub/device", body).status_code

    right = Browser(world.services, world.wsgi, world.name)
    assert [right.type_code(stored["user_code"]).kind for _ in range(4)] == [LoginStep] * 4
    assert [guess(number) for number in range(5)] == [200, 200, 200, 429, 429]
    assert guess(9, foreign_shop.tenant_name) == 200


def test_code_is_bound_to_client_issuer_and_tenant(
    world: World, tv: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = started(tv)
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name)
    assert foreign.type_code(stored["user_code"]).kind is DeviceCodeStep
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    other = world.application("radio", secret=None, grant_types=GRANTS, redirect_uris=[])
    assert status_and_error(other.poll(stored["device_code"])) == (400, "invalid_grant")
    assert status_and_error(tv.at_own_issuer().poll(stored["device_code"])) == (400, "invalid_grant")
    assert status_and_error(tv.poll("x")) == (400, "invalid_grant")
    assert status_and_error(tv.back("token", {"grant_type": DEVICE_GRANT, "client_id": "tv"})) == (
        400,
        "invalid_request",
    )
    assert tv.poll(stored["device_code"]).status_code == 200


@pytest.mark.both_databases
def test_one_of_many_polls_gets_the_tokens(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv)
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    statuses = at_once([lambda: tv.poll(stored["device_code"]).status_code] * 20)
    assert sorted(statuses) == [200, *[400] * 19]


@pytest.mark.both_databases
def test_one_of_many_answers_counts(world: World, tv: RelyingParty, ada: Person) -> None:
    stored = started(tv)
    browsers = [world.browser().signed_in(ada) for _ in range(6)]
    steps = [confirmation(browser, stored) for browser in browsers]
    pairs = list(zip(browsers, steps, [True, False] * 3, strict=True))
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda item: item[0].allow_device(item[1].interaction_id, allow=item[2]).outcome, pairs))
    assert sorted(problem == "expired" for problem in done) == [False, *[True] * 5], done


def test_question_is_bound_to_its_browser(world: World, tv: RelyingParty, browser: Browser, ada: Person) -> None:
    step = confirmation(browser.signed_in(ada), started(tv))
    thief = world.browser()
    thief.signed_in(world.person("thief@example.test"))
    assert thief.allow_device(step.interaction_id).kind is StartAgainStep


def test_signing_out_ends_a_permission_that_was_not_used(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv)
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    browser.sign_out(confirmed=True)
    assert status_and_error(tv.poll(stored["device_code"])) == (400, "invalid_grant")


def test_tokens_of_a_device_outlive_the_browser_session(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    """They end with a session of their own, which is listed under the application's name (decision 0144)."""
    stored = started(tv, scope="openid")
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    tokens = tv.poll(stored["device_code"]).json or {}
    browser.sign_out(confirmed=True)
    assert tv.userinfo(tokens["access_token"]).status_code == 200
    assert tv.refresh(tokens["refresh_token"]).status_code == 200


def test_closed_account_gets_no_tokens(tv: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = started(tv)
    browser.allow_device(confirmation(browser.signed_in(ada), stored).interaction_id)
    ada.close()
    assert status_and_error(tv.poll(stored["device_code"])) == (400, "invalid_grant")


def test_application_that_must_be_in_an_organization_is_refused(
    world: World, tv: RelyingParty, browser: Browser, ada: Person
) -> None:
    world.change(tv, organization_usage="require")
    stored = started(tv)
    step = browser.signed_in(ada).type_code(stored["user_code"])
    assert (step.kind, step.error) == (RefusedStep, "access_denied")
    assert status_and_error(tv.poll(stored["device_code"])) == (400, "access_denied")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"scope": "openid permissions"}, "invalid_scope"),
        ({"scope": "email"}, "request_not_supported"),
        ({"resource": "https://orders.example"}, "invalid_target"),
        ({"client_id": None, "scope": "openid"}, "invalid_client"),
        ({"client_id": "absent"}, "invalid_client"),
        ({"client_secret": "made up"}, "invalid_client"),
    ],
)
def test_wrong_device_request_is_refused(tv: RelyingParty, changed: dict[str, str | None], error: str) -> None:
    assert status_and_error(tv.start_device(**changed))[1] == error


def test_device_grant_must_be_registered(shop: RelyingParty) -> None:
    assert status_and_error(shop.start_device()) == (400, "unauthorized_client")
    assert status_and_error(shop.poll("x")) == (403, "unauthorized_client")


def test_confidential_client_authenticates(world: World) -> None:
    kiosk = world.application("kiosk", grant_types=GRANTS, redirect_uris=[])
    assert status_and_error(kiosk.start_device(client_secret=None)) == (401, "invalid_client")
    assert kiosk.start_device().status_code == 200


def test_documented_addresses_start_a_device(tv: RelyingParty, world: World) -> None:
    oauth = world.application("Radio", secret=None, protocol="oauth", grant_types=GRANTS, redirect_uris=[])
    for path, client in (
        ("/api/oidc/device/code", tv), ("/api/oidc/tv/device", tv), ("/api/oidc/tv/device/code", tv),
        ("/api/oauth/Radio/device", oauth), ("/api/oauth/Radio/device/code", oauth),
    ):  # fmt: skip
        assert client.post(path, {"client_id": client.client_id}).status_code == 200, path
    metadata = tv.get("/.well-known/openid-configuration").json or {}
    assert metadata["device_authorization_endpoint"] == f"{tv.hub_url}/api/oidc/device"
    assert DEVICE_GRANT in metadata["grant_types_supported"]
