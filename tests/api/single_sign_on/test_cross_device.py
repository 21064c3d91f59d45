"""Cross-device sign-on by programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from app.identity.authentication.federation import token_handoff
from app.identity.authentication.passwordless import cross_device
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.directory.accounts import account_store
from app.identity.platform.continuation_tokens import OPEN
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.accounts.risky_sign_ins import VIENNA, attempt_sign_in
from tests.support.oauth.relying_party import moved
from tests.support.operation_cases.cases import account_holder
from tests.support.organizations.management import PATH as ORGANIZATIONS
from tests.support.organizations.management import Business
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

PATH = "/sso/mobile/token"
Members = dict[str, Any]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(qr_sign_on=True)


@pytest.fixture
def phone(tenant: TenantServer) -> str:
    """The access token of a signed-in phone."""
    return str(tenant.tokens(tenant.create(EmailVerified=True)["Uid"])["access_token"])


def generated(tenant: TenantServer, *, with_secret: bool = False, **query: Any) -> Members:
    return answered(tenant.send("GET", "/sso/mobile/generate", with_secret=with_secret, **query))


def approves(tenant: TenantServer, token: str | None, stored: Members, **changed: Any) -> TestResponse:
    body = {"access_token": token, **stored, **changed}
    present = {name: value for name, value in body.items() if value is not None}
    return tenant.send("POST", PATH, present, with_secret=False)


def polls(tenant: TenantServer, stored: Members) -> TestResponse:
    return tenant.send("GET", PATH, with_secret=False, code=stored.get("code"))


def uid_of(tenant: TenantServer, token: str) -> str:
    return str(answered(tenant.send("GET", "/identity/v2/auth/account", bearer=token))["Uid"])


def change_token(tenant: TenantServer, token: str, **facts: Any) -> None:
    where = (access_tokens.c.tenant_id == tenant.tenant_id, access_tokens.c.token_hash == randomness.digest(token))
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        stored = work.run(select(access_tokens.c.facts).where(*where)).scalar_one()
        work.run(update(access_tokens).where(*where).values(facts={**stored, **facts}))


def test_phone_signs_the_device_in_once(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    assert len(stored["code"]) > 30
    assert len(stored["number"]) == 2
    assert refused(polls(tenant, stored)) == (403, 1139)
    assert answered(approves(tenant, phone, stored)) == {"isPosted": True}
    token = answered(polls(tenant, stored))["access_token"]
    assert (uid_of(tenant, token), token != phone) == (uid_of(tenant, phone), True)
    assert refused(polls(tenant, stored)) == (400, 908)
    assert refused(approves(tenant, phone, stored)) == (400, 908)


@pytest.mark.parametrize("zero", [0x660, 0xFF10])
def test_number_is_read_in_any_script(tenant: TenantServer, phone: str, zero: int) -> None:
    stored = generated(tenant)
    shown = " ".join(chr(zero + int(digit)) for digit in stored["number"])
    assert answered(approves(tenant, phone, stored, number=shown)) == {"isPosted": True}


def test_number_of_the_device_is_needed(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    assert refused(approves(tenant, phone, stored, number=None)) == (400, 908)
    wrong = "10" if stored["number"] != "10" else "11"
    for _ in range(3):
        assert refused(approves(tenant, phone, stored, number=wrong)) == (403, 1185)
    assert approves(tenant, phone, stored, number=wrong).status_code == 429
    assert approves(tenant, phone, stored).status_code == 429, "the right number comes too late"
    assert refused(polls(tenant, stored)) == (403, 1139)


def test_server_shows_a_code_without_a_number(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant, with_secret=True)
    assert stored.keys() == {"code"}
    answered(approves(tenant, phone, stored))
    assert uid_of(tenant, answered(polls(tenant, stored))["access_token"]) == uid_of(tenant, phone)
    answer = tenant.send("GET", "/sso/mobile/generate", with_secret=False, apisecret="x")
    assert answer.status_code in (400, 401)


def test_code_expires(tenant: TenantServer, phone: str) -> None:
    assert refused(tenant.send("GET", "/sso/mobile/generate", with_secret=False, expiry=301)) == (400, 908)
    assert refused(tenant.send("GET", "/sso/mobile/generate", with_secret=False, expiry=-1)) == (400, 908)
    short, default = generated(tenant, expiry=10), generated(tenant, expiry=0)
    answered(approves(tenant, phone, default))
    with moved(tenant.services, seconds=30):
        assert refused(approves(tenant, phone, short)) == (400, 908)
        answered(polls(tenant, default))
    expired = generated(tenant)
    answered(approves(tenant, phone, expired))
    with moved(tenant.services, seconds=61):
        assert refused(polls(tenant, expired)) == (400, 908)


def test_other_tokens_approve_nothing(tenant: TenantServer, phone: str, new_tenant_server: NewTenantServer) -> None:
    stored, uid = generated(tenant), uid_of(tenant, phone)
    outsider = new_tenant_server()
    foreign = outsider.tokens(outsider.create()["Uid"])["access_token"]
    for token in ("x", foreign, tenant.impersonates(uid)["access_token"]):
        assert refused(approves(tenant, token, stored)) == (403, 905)
    assert refused(approves(tenant, None, stored)) == (400, 908)
    assert refused(approves(tenant, phone, stored, code=None)) == (400, 908)
    assert refused(approves(tenant, phone, stored, code="x")) == (400, 908)
    with moved(tenant.services, days=10):
        assert refused(approves(tenant, phone, stored)) == (403, 906)
    bound = tenant.tokens(uid)["access_token"]
    change_token(tenant, bound, cnf={"jkt": "x"})
    assert refused(approves(tenant, bound, stored)) == (403, 905)


@pytest.mark.both_databases
def test_foreign_tenants_code_is_unknown(tenant: TenantServer, phone: str, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server(qr_sign_on=True)
    stored = generated(other)
    assert refused(approves(tenant, phone, stored)) == (400, 908)
    assert refused(polls(tenant, stored)) == (400, 908)


def test_code_of_our_page_is_not_for_programs(tenant: TenantServer, phone: str) -> None:
    """The hosted page approves it, and its browser collects it."""
    with call_of(tenant.services, tenant.name) as context:
        device = cross_device.begin(context, cross_device.LIFETIME, has_number=True)
        context.work.commit()
    stored = {"code": device.text, "number": device.facts["number"]}
    assert refused(approves(tenant, phone, stored)) == (400, 908)
    assert refused(polls(tenant, stored)) == (400, 908)
    with call_of(tenant.services, tenant.name) as context:
        found = cross_device.find(context, device.text)
        assert found is not None
        assert found.state == OPEN


def test_phone_that_signed_out_approved_nothing(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    answered(approves(tenant, phone, stored))
    query: dict[str, Any] = {"access_token": phone, "with_secret": False}
    assert tenant.send("GET", "/identity/v2/auth/access_token/InValidate", **query).status_code == 200
    assert refused(polls(tenant, stored)) == (400, 908)


@pytest.mark.both_databases
def test_token_of_the_device_is_as_old_as_the_phones(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    change_token(tenant, phone, auth_time=1_000, amr=["pwd"])
    answered(approves(tenant, phone, stored))
    answer = answered(polls(tenant, stored))
    assert answer.keys() == {"access_token"}
    where = access_tokens.c.token_hash == randomness.digest(answer["access_token"])
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        facts = work.run(select(access_tokens.c.facts).where(where)).scalar_one()
    assert (facts["auth_time"], facts["amr"]) == (1_000, ["pwd"])


def facts_of(tenant: TenantServer, token: str) -> tuple[Members, str | None]:
    where = access_tokens.c.token_hash == randomness.digest(token)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        row = work.run(select(access_tokens.c.facts, access_tokens.c.session_id).where(where)).one()
    return row.facts, row.session_id


def test_token_of_the_device_ends_with_the_phones_family(tenant: TenantServer, phone: str) -> None:
    stored, ends_at = generated(tenant), int(tenant.services.clock.now().timestamp()) + 600
    change_token(tenant, phone, ends_at=ends_at)
    answered(approves(tenant, phone, stored))
    token = answered(polls(tenant, stored))["access_token"]
    assert facts_of(tenant, token) == ({**facts_of(tenant, token)[0], "ends_at": ends_at}, None)
    with moved(tenant.services, seconds=601):
        assert refused(tenant.send("GET", "/identity/v2/auth/account", bearer=token)) == (401, 1409)


def test_token_of_a_family_whose_end_is_near_approves_until_then(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    change_token(tenant, phone, ends_at=int(tenant.services.clock.now().timestamp()) + 20)
    answered(approves(tenant, phone, stored))
    with moved(tenant.services, seconds=30):
        assert refused(polls(tenant, stored)) == (400, 908)


@pytest.mark.both_databases
def test_token_of_a_session_gives_one_of_the_same_session(tenant: TenantServer) -> None:
    uid = tenant.create(EmailVerified=True)["Uid"]
    stored = [generated(tenant), generated(tenant)]
    with call_of(tenant.services, tenant.name) as context:
        session, _ = sessions.start(context, uid, ("pwd",), False)
        ends_with = (session.session_id, session.expires_at)
        account = account_store.by_uid(context, uid)
        assert account is not None
        token = token_handoff.access_token(context, account, session.methods, "Email", ends_with).access_token
        context.work.commit()
    answered(approves(tenant, token, stored[0]))
    answered(approves(tenant, token, stored[1]))
    values = answered(polls(tenant, stored[0]))["access_token"]
    facts, session_id = facts_of(tenant, values)
    assert (session_id, facts["ends_at"]) == (session.session_id, int(session.expires_at.timestamp()))
    with call_of(tenant.services, tenant.name) as context:
        sessions.end(context, uid, session.session_id)
        tokens.revoke_with_session(context, session.uid, session.session_id)
        context.work.commit()
    assert refused(tenant.send("GET", "/identity/v2/auth/account", bearer=values)) == (401, 1409)
    assert refused(polls(tenant, stored[1])) == (400, 908)


@pytest.mark.both_databases
def test_of_twenty_polls_at_once_one_gets_the_token(tenant: TenantServer, phone: str) -> None:
    stored = generated(tenant)
    answered(approves(tenant, phone, stored))
    with ThreadPoolExecutor(20) as pool:
        answers = sorted(pool.map(lambda _: polls(tenant, stored).status_code, range(20)))
    assert answers == [200, *[400] * 19]


def test_sign_on_is_off_by_default(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    assert refused(tenant.send("GET", "/sso/mobile/generate", with_secret=False)) == (403, 909)
    assert refused(polls(tenant, {"code": "x"})) == (403, 909)
    assert refused(approves(tenant, "x", {"code": "x"})) == (403, 909)


def test_code_of_a_new_network_is_refused_once(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, qr_sign_on=True, risk={"ip": "refuse"})
    phone = answered(attempt_sign_in(ada))["access_token"]
    stored = generated(ada.tenant)
    answered(approves(ada.tenant, phone, stored))
    query = {"apikey": ada.tenant.api_key, "code": stored["code"]}
    base, elsewhere = f"http://{ada.tenant.services.settings.api_hostname}", {"REMOTE_ADDR": VIENNA}
    answers = [
        PlainClient(ada.tenant.app).get(PATH, query_string=query, base_url=base, environ_base=elsewhere)
        for _ in range(2)
    ]
    assert [refused(answer) for answer in answers] == [(403, 1171), (400, 908)], "each refusal notifies the account"


def test_phone_of_unknown_method_meets_no_policy(tenant: TenantServer) -> None:
    business, uid = Business(tenant), tenant.create(EmailVerified=True)["Uid"]
    org = business.create()
    answered(business.assign(uid, org, business.role(org=org)))
    policy = {"MethodPolicy": {"AllowedMethods": ["password"]}}
    answered(business.send("PUT", f"{ORGANIZATIONS}/{org}/policy", policy))
    stored = generated(tenant)
    answered(approves(tenant, tenant.tokens(uid)["access_token"], stored))
    assert refused(polls(tenant, stored)) == (400, 908)
