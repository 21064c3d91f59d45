"""Access and refresh tokens outside OAuth: validated, prolonged and ended by their owner and the tenant's server."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.directory.tenants.tables import tenants
from app.identity.directory.tenants.tenant_writes import secret_digest
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.oauth.relying_party import Person, RelyingParty, moved
from tests.support.oauth.world import World
from tests.support.operation_cases.cases import account_holder
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

OWN = "/identity/v2/auth/access_token"
TOKEN = "/api/v2/access_token"
REFRESH = f"{MANAGE}/access_token/refresh"
PROFILE = "/identity/v2/auth/account"


@pytest.fixture
def uid(acme: TenantServer) -> str:
    return str(acme.create(FirstName="Ada")["Uid"])


@pytest.fixture
def issued(acme: TenantServer, uid: str) -> dict[str, Any]:
    return acme.tokens(uid)


def expire(acme: TenantServer, token: str) -> None:
    """Set the token's expiry into the past."""
    where = access_tokens.c.token_hash == randomness.digest(token)
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        ended = acme.services.clock.now() - timedelta(seconds=1)
        assert work.changed(update(access_tokens).where(where).values(expires_at=ended)) == 1


def remaining(acme: TenantServer, body: dict[str, Any]) -> timedelta:
    return datetime.fromisoformat(body["expires_in"]) - acme.services.clock.now()


def test_token_information_names_provider_and_expiry(acme: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    assert answered(acme.send("GET", OWN, bearer=token)) == {
        "provider": "Email",
        "access_token": token,
        "isrememberme": False,
    }
    assert answered(acme.send("GET", f"{OWN}/validate", bearer=token))["expires_in"] == issued["expires_in"]


def test_token_is_accepted_in_query(acme: TenantServer, issued: dict[str, Any]) -> None:
    assert (
        answered(acme.send("GET", PROFILE, with_secret=False, access_token=issued["access_token"]))["FirstName"]
        == "Ada"
    )


def test_invalidated_token_keeps_its_refresh_token(acme: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    assert answered(acme.send("GET", f"{OWN}/invalidate", bearer=token)) == {"IsPosted": True}
    assert refused(acme.send("GET", PROFILE, bearer=token)) == (401, 1409)
    assert answered(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"]))["access_token"] != token


def test_prevent_refresh_ends_refresh_token_too(acme: TenantServer, issued: dict[str, Any]) -> None:
    answered(acme.send("GET", f"{OWN}/invalidate", bearer=issued["access_token"], preventRefresh="true"))
    assert refused(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"])) == (403, 1217)


@pytest.mark.both_databases
def test_sliding_token_keeps_value_and_lives_longer(acme: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    where = access_tokens.c.token_hash == randomness.digest(token)
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        soon = acme.services.clock.now() + timedelta(seconds=30)
        work.run(update(access_tokens).where(where).values(expires_at=soon))
    prolonged = answered(acme.send("GET", f"{OWN}/sliding_token", bearer=token))
    assert prolonged["access_token"] == token
    assert remaining(acme, prolonged) > timedelta(minutes=14)


def test_expired_token_is_reported_only_when_sliding(acme: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    expire(acme, token)
    assert refused(acme.send("GET", f"{OWN}/sliding_token", bearer=token)) == (403, 906)
    assert refused(acme.send("GET", OWN, bearer=token)) == (401, 1409)


def test_missing_token_is_1409_in_lower_camel_case(acme: TenantServer) -> None:
    answer = acme.send("GET", PROFILE, with_secret=False)
    assert answer.status_code == 401
    assert answer.get_json()["errorCode"] == 1409


@pytest.mark.both_databases
def test_token_of_other_tenant_is_refused(acme: TenantServer, globex: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    assert refused(globex.send("GET", PROFILE, bearer=token)) == (401, 1409)
    assert refused(globex.send("GET", f"{TOKEN}/validate", access_token=token)) == (403, 905)
    assert refused(globex.send("GET", f"{TOKEN}/invalidate", access_token=token)) == (403, 905)
    assert refused(globex.send("GET", REFRESH, refresh_token=issued["refresh_token"])) == (403, 1217)
    assert answered(acme.send("GET", PROFILE, bearer=token))["FirstName"] == "Ada"


def test_refresh_token_works_once_and_rotates(acme: TenantServer, issued: dict[str, Any]) -> None:
    renewed = answered(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"]))
    assert {renewed["access_token"], renewed["refresh_token"]}.isdisjoint(
        {issued["access_token"], issued["refresh_token"]}
    )
    assert refused(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"])) == (403, 1217)


def test_reused_refresh_token_revokes_its_family(acme: TenantServer, issued: dict[str, Any]) -> None:
    renewed = answered(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"]))
    refused(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"]))
    assert refused(acme.send("GET", REFRESH, refresh_token=renewed["refresh_token"])) == (403, 1217)
    assert refused(acme.send("GET", PROFILE, bearer=renewed["access_token"])) == (401, 1409)


@pytest.mark.both_databases
def test_revoked_refresh_token_leaves_access_token(acme: TenantServer, issued: dict[str, Any]) -> None:
    assert answered(acme.send("GET", f"{REFRESH}/revoke", refresh_token=issued["refresh_token"])) == {"IsDeleted": True}
    assert refused(acme.send("GET", f"{REFRESH}/revoke", refresh_token=issued["refresh_token"])) == (403, 1217)
    assert refused(acme.send("GET", REFRESH, refresh_token=issued["refresh_token"])) == (403, 1217)
    assert answered(acme.send("GET", PROFILE, bearer=issued["access_token"]))["FirstName"] == "Ada"


def test_all_refresh_tokens_of_account_are_revoked_together(
    acme: TenantServer, uid: str, issued: dict[str, Any]
) -> None:
    other = acme.tokens(uid)
    assert answered(acme.send("DELETE", f"{MANAGE}/{uid}/access_token/refresh/revoke")) == {"IsDeleted": True}
    for token in (issued, other):
        assert refused(acme.send("GET", REFRESH, refresh_token=token["refresh_token"])) == (403, 1217)
    assert refused(acme.send("DELETE", f"{MANAGE}/absent/access_token/refresh/revoke")) == (403, 984)


def test_server_validates_prolongs_and_invalidates_token(acme: TenantServer, issued: dict[str, Any]) -> None:
    token = issued["access_token"]
    assert answered(acme.send("GET", f"{TOKEN}/validate", access_token=token))["expires_in"] == issued["expires_in"]
    longer = answered(acme.send("GET", f"{TOKEN}/refresh", access_token=token, expiresin=7200))
    assert timedelta(minutes=119) < remaining(acme, longer) <= timedelta(hours=2)
    assert answered(acme.send("GET", f"{TOKEN}/invalidate", access_token=token)) == {"IsPosted": True, "isPosted": True}
    assert refused(acme.send("GET", f"{TOKEN}/validate", access_token=token)) == (403, 905)


@pytest.mark.parametrize("carrier", ["secret", "apisecret"])
def test_token_is_prolonged_with_secret_alone(
    acme: TenantServer, globex: TenantServer, issued: dict[str, Any], carrier: str
) -> None:
    def ask(secret: str | None, **query: Any) -> Any:
        named = {"apikey": None, "apisecret": None, carrier: secret, "access_token": issued["access_token"]}
        return acme.send("GET", f"{TOKEN}/refresh", expiresin=7200, **{**named, **query})

    for secret in (acme.api_secret, acme.api_secret.upper()):
        assert answered(ask(secret))["access_token"] == issued["access_token"]
    assert refused(ask(None)) == (400, 923)
    assert refused(ask("00000000-0000-4000-8000-000000000000")) == (401, 902)
    assert refused(ask(globex.api_secret)) == (403, 905)
    assert refused(ask(acme.api_secret, apikey=globex.api_key)) == (401, 902)  # an API key that is sent must be valid
    assert refused(ask(acme.api_secret, apikey="00000000-0000-4000-8000-000000000000")) == (403, 901)


@pytest.mark.both_databases
def test_secret_shared_by_two_tenants_needs_the_key(
    acme: TenantServer, globex: TenantServer, issued: dict[str, Any]
) -> None:
    values = {"api_secret_hash": secret_digest(acme.api_secret)}
    with UnitOfWork(acme.services.database, globex.tenant_id).separate_transaction() as work:
        work.run(update(tenants).where(tenants.c.tenant_id == globex.tenant_id).values(**values))
    acme.services.directory.clear_cache()
    query = {"apisecret": acme.api_secret, "access_token": issued["access_token"]}
    assert refused(acme.send("GET", f"{TOKEN}/refresh", **{**query, "apikey": None})) == (401, 902)
    answered(acme.send("GET", f"{TOKEN}/refresh", **query))


@pytest.mark.parametrize("what", ["validate", "invalidate", "refresh"])
def test_missing_or_unknown_token_is_refused(acme: TenantServer, what: str) -> None:
    assert refused(acme.send("GET", f"{TOKEN}/{what}")) == (400, 1060)
    assert refused(acme.send("GET", f"{TOKEN}/{what}", access_token="nonsense")) == (403, 905)


def test_legacy_key_and_secret_parameters_are_accepted(acme: TenantServer, issued: dict[str, Any]) -> None:
    names: dict[str, Any] = {"apikey": None, "apisecret": None, "key": acme.api_key, "secret": acme.api_secret}
    response = acme.send("GET", f"{TOKEN}/validate", access_token=issued["access_token"], **names)
    assert answered(response)["access_token"] == issued["access_token"]


def test_expired_token_cannot_be_prolonged_by_server(acme: TenantServer, issued: dict[str, Any]) -> None:
    expire(acme, issued["access_token"])
    assert refused(acme.send("GET", f"{TOKEN}/validate", access_token=issued["access_token"])) == (403, 906)
    assert refused(acme.send("GET", f"{TOKEN}/refresh", access_token=issued["access_token"])) == (403, 905)


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "99999999999"])
def test_invalid_lifetime_is_refused(acme: TenantServer, issued: dict[str, Any], seconds: str) -> None:
    answer = acme.send("GET", f"{TOKEN}/refresh", access_token=issued["access_token"], expiresin=seconds)
    assert refused(answer) == (400, 908)
    assert "expiresin" in answer.get_json()["Description"]


def test_closed_account_cannot_be_impersonated(acme: TenantServer, uid: str) -> None:
    address = f"{MANAGE}/access_token"
    assert refused(acme.send("GET", address, uid="absent")) == (403, 984)
    acme.update(uid, {"DisableLogin": True})
    assert refused(acme.send("GET", address, uid=uid)) == (403, 1130)
    acme.update(uid, {"IsActive": False})
    assert refused(acme.send("GET", address, uid=uid)) == (403, 991)


def test_impersonation_is_not_counted_as_sign_in(acme: TenantServer, uid: str, issued: dict[str, Any]) -> None:
    assert acme.read(uid)["NoOfLogins"] == 0


@pytest.mark.both_databases
def test_active_session_handles_only_invalidate(acme: TenantServer, uid: str) -> None:
    tokens = [acme.tokens(uid)["access_token"] for _ in range(2)]
    listed = answered(acme.send("GET", f"{TOKEN}/activesession", accountid=uid))
    handles = [entry["AccessToken"] for entry in listed["data"]]
    assert (len(handles), listed["nextcursor"]) == (2, 0)
    assert not set(handles) & set(tokens)
    assert refused(acme.send("GET", PROFILE, bearer=handles[0])) == (401, 1409)
    for handle in handles:
        answered(acme.send("GET", f"{TOKEN}/invalidate", access_token=handle))
    assert refused(acme.send("GET", f"{TOKEN}/activesession", accountid=uid)) == (403, 1055)


@pytest.mark.both_databases
def test_active_session_names_its_device(acme: TenantServer, uid: str) -> None:
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1"
    base = f"http://{acme.services.settings.api_hostname}"
    query = {"apikey": acme.api_key, "apisecret": acme.api_secret, "uid": uid}
    PlainClient(acme.app).get(
        f"{MANAGE}/access_token", query_string=query, base_url=base, headers={"User-Agent": agent}
    )
    (entry,) = answered(acme.send("GET", f"{TOKEN}/activesession", accountid=uid))["data"]
    device = {name: entry[name] for name in ("Browser", "Device", "Os", "DeviceType")}
    assert device == {"Browser": "Safari", "Device": "iPhone", "Os": "iOS", "DeviceType": "phone"}


def test_active_session_of_an_application_names_its_browser(shop: RelyingParty, world: World, ada: Person) -> None:
    browser = world.browser()
    shop.redeem(browser.code(shop, ada))
    query = {"apikey": world.api_key, "apisecret": world.api_secret, "accountid": ada.uid}
    base = f"http://{world.services.settings.api_hostname}"
    (entry,) = answered(world.wsgi.get(f"{TOKEN}/activesession", query_string=query, base_url=base))["data"]
    assert (entry["Ip"], entry["Browser"]) == (browser.address, "Test")


def test_active_sessions_are_found_by_token_and_account(acme: TenantServer, uid: str, issued: dict[str, Any]) -> None:
    address = f"{TOKEN}/activesession"
    for named in ({"token": issued["access_token"]}, {"profileid": acme.read(uid)["ID"]}):
        assert len(answered(acme.send("GET", address, **named))["data"]) == 1
    assert refused(acme.send("GET", address)) == (400, 1118)
    assert refused(acme.send("GET", address, profileid="")) == (400, 1061)
    assert refused(acme.send("GET", address, profileid="absent")) == (403, 984)
    assert refused(acme.send("GET", address, accountid="absent")) == (403, 984)
    assert refused(acme.send("GET", address, token="nonsense")) == (403, 905)


@pytest.mark.parametrize("method_name", ["sliding", "prolonging", "refreshing"])
def test_token_has_an_absolute_expiry(new_tenant_server: NewTenantServer, method_name: str) -> None:
    tenant = new_tenant_server(token_absolute_days=2, access_token_minutes=1_000, refresh_token_minutes=2_000)
    issued_tokens = tenant.tokens(str(tenant.create()["Uid"]))
    issued_at = tenant.services.clock.now()
    for hours in (16, 32, 47):
        with moved(tenant.services, hours=hours):
            if method_name == "sliding":
                answer = tenant.send("GET", f"{OWN}/sliding_token", bearer=issued_tokens["access_token"])
            elif method_name == "prolonging":
                parameters = {"access_token": issued_tokens["access_token"], "expiresin": 80 * 86_400}
                answer = tenant.send("GET", f"{TOKEN}/refresh", **parameters)
            else:
                answer = tenant.send("GET", REFRESH, refresh_token=issued_tokens["refresh_token"])
            issued_tokens |= {name: value for name, value in answered(answer).items() if value}
    assert datetime.fromisoformat(issued_tokens["expires_in"]) <= issued_at + timedelta(days=2, seconds=5)
    with moved(tenant.services, days=2, seconds=6):
        assert refused(tenant.send("GET", PROFILE, bearer=issued_tokens["access_token"])) == (401, 1409)
        assert refused(tenant.send("GET", REFRESH, refresh_token=issued_tokens["refresh_token"])) == (403, 1217)


def test_refresh_token_is_valid_for_60_days_by_default(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    uid = str(tenant.create()["Uid"])
    in_time, expired = (tenant.tokens(uid)["refresh_token"] for _ in range(2))
    with moved(tenant.services, days=59, hours=23):
        answered(tenant.send("GET", REFRESH, refresh_token=in_time))
    with moved(tenant.services, days=60, seconds=1):
        assert refused(tenant.send("GET", REFRESH, refresh_token=expired)) == (403, 1217)


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_both_spellings_of_member_names_are_returned(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.logs_in())
    listed = answered(who.tenant.send("GET", "/api/v2/access_token/activesession", accountid=who.uid))
    assert (listed["nextcursor"], listed["nextCursor"]) == (0, 0)
    access_token = listed["data"][0]["AccessToken"]
    invalidated = answered(who.tenant.send("GET", "/api/v2/access_token/invalidate", access_token=access_token))
    assert invalidated == {"IsPosted": True, "isPosted": True}
