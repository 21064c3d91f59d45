"""An application's access token allows only what was granted: takeover steps tried with tokens of a real code flow."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Person, Pkce, RelyingParty, claims_in, moved
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import refused

AUTH = "/identity/v2/auth"
NEW = "Quartz-lantern-58"
TAKEOVER: list[tuple[str, str, str, dict[str, Any] | None]] = [
    ("set the password without the old one", "PUT", f"{AUTH}/account", {"Password": NEW}),
    ("change the password", "PUT", f"{AUTH}/password/change", {"oldpassword": "correct horse 7", "newpassword": NEW}),
    ("read the factors and a new secret", "GET", f"{AUTH}/account/2fa", None),
    ("enrol an authenticator app", "PUT", f"{AUTH}/account/2fa/totp", {"authenticatorcode": "123456"}),
    ("remove the authenticator app", "DELETE", f"{AUTH}/account/2fa/totp", None),
    ("remove the text messages", "DELETE", f"{AUTH}/account/2fa/sms", None),
    ("remove the emailed codes", "DELETE", f"{AUTH}/account/2fa/email", None),
    ("list backup codes", "GET", f"{AUTH}/account/2fa/backupcode", None),
    ("renew backup codes", "GET", f"{AUTH}/account/2fa/backupcode/reset", None),
    ("add an address", "POST", f"{AUTH}/email", {"email": "eve@evil.example", "type": "Secondary"}),
    ("remove the address", "DELETE", f"{AUTH}/email", {"email": "ada@example.test"}),
    ("take a username", "PUT", f"{AUTH}/username", {"username": "eve"}),
    ("change the number", "PUT", f"{AUTH}/phone", {"phone": "+4915112345678"}),
    ("add a passkey", "GET", f"{AUTH}/account/register/passkey/begin", None),
    ("delete the account by mail", "DELETE", f"{AUTH}/account", None),
    ("ask for the code that deletes", "GET", f"{AUTH}/account/otp", None),
    ("delete the account by code", "POST", f"{AUTH}/account/delete", {"otp": "123456"}),
    ("accept the policy", "GET", f"{AUTH}/privacypolicy/accept", None),
    ("send the welcome mail", "GET", f"{AUTH}/account/sendwelcomeemail", None),
    ("slide the token", "GET", f"{AUTH}/access_token/sliding_token", None),
    ("link a candidate", "POST", f"{AUTH}/socialidentity", {"candidatetoken": "anything"}),
    ("step up with a guessed password", "PUT", f"{AUTH}/account/reauth/password", {"password": "a guess"}),
    ("read the profile", "GET", f"{AUTH}/account", None),
    ("read what the token is", "GET", f"{AUTH}/access_token", None),
]
HARMLESS = {"read the profile", "read what the token is"}
BY_WRITE = {"accept the policy", "send the welcome mail", "step up with a guessed password"}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(lockout={"type": "none"}, two_factor="optional")


def ask(world: World, token: str, method: str, path: str, body: Any = None, **query: str) -> TestResponse:
    sent = {"json": body} if body is not None else {}
    base = f"http://{world.services.settings.api_hostname}"
    stored = {"apikey": world.api_key, **query}
    return world.wsgi.open(
        path, method=method, query_string=stored, base_url=base, headers={"Authorization": f"Bearer {token}"}, **sent
    )


def token_of(world: World, client: RelyingParty, person: Person, **changed: str | None) -> str:
    """Return an access token of a real code flow."""
    answer = client.redeem(world.browser().code(client, person, **changed))
    assert answer.status_code == 200, answer.text
    return str((answer.json or {})["access_token"])


def scope_of(client: RelyingParty, token: str) -> set[str]:
    return set(client.introspect(token)["scope"].split())


@on_one_database
@pytest.mark.parametrize("kind", ["opaque", "jwt"])
def test_takeover_with_plain_sign_in_token_is_refused(world: World, ada: Person, kind: str) -> None:
    shop = world.application("Shop", access_token_format=kind)
    token = token_of(world, shop, ada, scope="openid")
    for step, method, path, body in TAKEOVER:
        assert refused(ask(world, token, method, path, body)) == (403, 1143), step
    assert shop.userinfo(token).status_code == 200
    assert refused(ask(world, token, "GET", f"{AUTH}/account", access_token=token)) == (403, 1143)


@on_one_database
def test_read_access_allows_no_change(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="read")
    token = token_of(world, shop, ada, scope="openid")
    for step, method, path, body in TAKEOVER:
        answer = ask(world, token, method, path, body)
        assert (answer.status_code == 200) is (step in HARMLESS), (step, answer.text)
        assert step in HARMLESS or refused(answer) == (403, 1143), step


@on_one_database
def test_application_reads_no_token_of_a_provider(world: World, ada: Person) -> None:
    """It signs in natively, as the person, with everything that this application lacks."""
    writer, reader = (
        world.application(name, interface_access=access) for name, access in (("W", "full"), ("R", "read"))
    )
    raw = {"ProviderAccessCredential": {"AccessToken": "raw", "TokenSecret": "raw"}, "FirstName": "Ada"}
    written = ask(world, token_of(world, writer, ada, scope="openid"), "PUT", f"{AUTH}/account", raw)
    token = token_of(world, reader, ada, scope="openid")
    for answer in (written, ask(world, token, "GET", f"{AUTH}/account")):
        assert answer.status_code == 200, answer.text
        assert "raw" not in answer.text
    assert (written.json or {})["Data"]["FirstName"] == "Ada"


def test_full_access_requires_recent_authentication(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="full", access_token_seconds=3600)
    token = token_of(world, shop, ada, scope="openid")
    with moved(world.services, seconds=601):
        for step, method, path, body in TAKEOVER:
            answer = ask(world, token, method, path, body)
            if step == "slide the token":
                assert refused(answer) == (403, 1143)
            elif step not in HARMLESS | BY_WRITE:
                assert refused(answer) == (403, 1193), step
            else:
                assert answer.status_code == 200 or refused(answer)[1] not in (1143, 1193, 1409), (step, answer.text)


def test_step_up_counts_as_recent_for_ten_minutes(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="full", access_token_seconds=3600)
    first = shop.redeem(world.browser().code(shop, ada, scope="openid")).json or {}
    token, other = str(first["access_token"]), token_of(world, shop, ada, scope="openid")
    change = ("PUT", f"{AUTH}/username", {"username": f"ada{secrets.token_hex(3)}"})
    with moved(world.services, minutes=15):
        assert refused(ask(world, token, *change)) == (403, 1193)
        wrong = ask(world, token, "PUT", f"{AUTH}/account/reauth/password", {"password": "a guess"})
        assert wrong.status_code == 401
        assert refused(ask(world, token, *change)) == (403, 1193)
        right = ask(world, token, "PUT", f"{AUTH}/account/reauth/password", {"password": ada.password})
        assert right.status_code == 200, right.text
        assert refused(ask(world, other, *change)) == (403, 1193)  # another session's
        assert ask(world, token, *change).status_code == 200
        renewed = str((shop.refresh(str(first["refresh_token"])).json or {})["access_token"])
        assert ask(world, renewed, *change).status_code == 200
    with moved(world.services, minutes=25, seconds=2):
        assert refused(ask(world, renewed, *change)) == (403, 1193)


@pytest.mark.both_databases
def test_browser_reauthentication_counts_as_recent(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="full", access_token_seconds=3600)
    browser = world.browser()
    token = str((shop.redeem(browser.code(shop, ada, scope="openid")).json or {})["access_token"])
    change = ("PUT", f"{AUTH}/username", {"username": f"ada{secrets.token_hex(3)}"})
    with moved(world.services, minutes=15):
        assert refused(ask(world, token, *change)) == (403, 1193)
        step = browser.authorize(shop.authorization_parameters(prompt="login"))
        browser.sign_in(step.interaction_id, ada.email, ada.password)
        assert ask(world, token, *change).status_code == 200


def test_refresh_is_no_recent_authentication(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="full")
    body = shop.redeem(world.browser().code(shop, ada, scope="openid")).json or {}
    with moved(world.services, seconds=601):
        renewed = shop.refresh(body["refresh_token"]).json or {}
        answer = ask(world, renewed["access_token"], "PUT", f"{AUTH}/username", {"username": "eve"})
        assert refused(answer) == (403, 1193)


@on_one_database
def test_configured_access_is_granted_and_in_scope(world: World, ada: Person) -> None:
    reads = world.application("Reader", interface_access="read")
    writes = world.application("Writer", interface_access="full")
    assert scope_of(reads, token_of(world, reads, ada, scope="openid")) == {"openid", "account:read"}
    assert scope_of(writes, token_of(world, writes, ada, scope="openid")) == {"openid", "account:read", "account:write"}
    narrowed = token_of(world, writes, ada, scope="openid account:read")
    assert scope_of(writes, narrowed) == {"openid", "account:read"}
    assert refused(ask(world, narrowed, "GET", f"{AUTH}/account/sendwelcomeemail")) == (403, 1143)
    both = {"openid", "account:read", "account:write"}  # write access returns the profile, so consent lists both scopes
    assert scope_of(writes, token_of(world, writes, ada, scope="openid account:write")) == both


@on_one_database
@pytest.mark.parametrize(
    ("access", "requested_scope"), [("none", "account:read"), ("none", "account:write"), ("read", "account:write")]
)
def test_scope_beyond_configured_access_is_invalid(
    world: World, ada: Person, access: str, requested_scope: str
) -> None:
    """Not even where the client's `scope` names it: the setting alone gives it."""
    shop = world.application("Shop", interface_access=access, scope="openid account:read account:write")
    step = world.browser().signed_in(ada).authorize(shop.authorization_parameters(scope=f"openid {requested_scope}"))
    assert "error=invalid_scope" in (step.address or "")


@on_one_database
def test_password_and_client_grants_follow_access_setting(world: World, ada: Person) -> None:
    grants: dict[str, Any] = {"grant_types": ["password", "client_credentials"]}
    plain = world.application("Plain", **grants)
    full = world.application("Full", interface_access="full", **grants)
    by_password = {"grant_type": "password", "username": ada.email, "password": ada.password, "scope": "openid"}
    token = str((plain.back("token", {**by_password, **plain.client_credentials()}).json or {})["access_token"])
    assert refused(ask(world, token, "GET", f"{AUTH}/account")) == (403, 1143)
    token = str((full.back("token", {**by_password, **full.client_credentials()}).json or {})["access_token"])
    assert ask(world, token, "GET", f"{AUTH}/account").status_code == 200
    refusal = full.back(
        "token", {"grant_type": "client_credentials", "scope": "account:write", **full.client_credentials()}
    )
    assert (refusal.json or {})["error"] == "invalid_scope"
    alone = full.back("token", {"grant_type": "client_credentials", **full.client_credentials()}).json or {}
    assert refused(ask(world, alone["access_token"], "GET", f"{AUTH}/account")) == (401, 1409)


@on_one_database
def test_enabling_access_does_not_extend_existing_tokens(world: World, ada: Person) -> None:
    shop = world.application("Shop")
    body = shop.redeem(world.browser().code(shop, ada, scope="openid")).json or {}
    world.change(shop, interface_access="full")
    world.change_settings()
    assert refused(ask(world, body["access_token"], "GET", f"{AUTH}/account")) == (403, 1143)
    renewed = shop.refresh(body["refresh_token"]).json or {}
    assert refused(ask(world, renewed["access_token"], "GET", f"{AUTH}/account")) == (403, 1143)
    assert claims_in(renewed["id_token"])["sub"] == ada.uid


@on_one_database
def test_new_access_requires_consent_again(world: World, ada: Person) -> None:
    asking = world.application("asking", require_consent=True)
    browser = world.browser().signed_in(ada)
    step = browser.authorize(asking.authorization_parameters(scope="openid"))
    assert [scope.name for scope in step.scopes] == ["openid"]
    assert browser.consent(step.interaction_id or "", allow=True).address
    world.change(asking, interface_access="full")
    world.change_settings()
    again = browser.authorize(asking.authorization_parameters(scope="openid"))
    assert [scope.name for scope in again.scopes] == ["openid", "account:read", "account:write"]
    refusal = browser.authorize(asking.authorization_parameters(scope="openid", prompt="none"))
    assert "error=consent_required" in (refusal.address or "")


@on_one_database
@pytest.mark.parametrize("access", ["none", "full"])
def test_application_token_is_refused_as_candidate(world: World, ada: Person, access: str) -> None:
    """A token passed as a parameter gets the same check; an allowed one identifies an account, which is not linked either."""
    mallory = world.person("mallory@example.test")
    shop = world.application("Shop", interface_access=access)
    desk = world.application("Desk", interface_access="full")
    candidate, own = token_of(world, shop, ada, scope="openid"), token_of(world, desk, mallory, scope="openid")
    answer = ask(world, own, "POST", f"{AUTH}/socialidentity", {"candidatetoken": candidate})
    assert refused(answer) == ((403, 905) if access == "none" else (403, 983)), answer.text


@on_one_database
def test_application_token_at_recovery_is_refused(world: World, ada: Person) -> None:
    shop = world.application("Shop", interface_access="full")
    token = token_of(world, shop, ada, scope="openid")
    assert refused(ask(world, token, "POST", f"{AUTH}/password", {"email": ada.email})) == (401, 1409)


@on_one_database
def test_hub_client_token_is_refused(world: World, ada: Person) -> None:
    hub_url = world.services.settings.hub_url(world.name)
    pages, pkce = world.application("Shop").as_client("gatehouse-profile", f"{hub_url}/callback/profile"), Pkce()
    code = world.browser().code(pages, ada, scope="openid", code_challenge=pkce.challenge, code_challenge_method="S256")
    token = str((pages.redeem(code, code_verifier=pkce.verifier).json or {})["access_token"])
    assert refused(ask(world, token, "GET", f"{AUTH}/account")) == (403, 1143)


@on_one_database
def test_metadata_does_not_offer_account_access(world: World) -> None:
    shop = world.application("Shop", interface_access="full")
    for path in ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"):
        assert not [name for name in (shop.get(path).json or {})["scopes_supported"] if name.startswith("account:")]


@on_one_database
def test_userinfo_reports_insufficient_scope_as_oauth_error(world: World, ada: Person) -> None:
    shop = world.application("Legacy", protocol="oauth")
    token = token_of(world, shop, ada, scope="profile")
    answer = world.wsgi.get(
        "/service/oidc/userinfo", base_url=shop.hub_url, headers={"Authorization": f"Bearer {token}"}
    )
    assert (answer.status_code, (answer.json or {})["error"]) == (403, "insufficient_scope")
