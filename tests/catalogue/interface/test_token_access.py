"""Every operation with an access token admits the kinds of tokens that its declaration names, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal, get_args

from flask import Flask
from sqlalchemy import insert
from werkzeug.test import TestResponse

from app.contract.applications.settings import ApplicationSettings
from app.contract.auth import INTERFACE_SCOPES, NEVER, READ, STANDARD, AuthScheme
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.error_profiles import OAUTH
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.directory.tenants.tables import applications
from app.identity.platform.continuation_tokens import ContinuationPurpose, token_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.operations.operation import AnyOperation
from app.kit.operations.wire import From, shape_of
from tests.support.operations.asking import UNLIMITED, Caller, refusal
from tests.support.services.identity_service import before_the_store
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

load_catalogue()

AS_PARAMETER = {"access_token", "token", "candidatetoken"}
OTHER_TOKENS = {
    "tokens.exchange",
    "second_factors.push_picture",
    "second_factors.register_device",
}  # their `token` is a continuation token
TESTED_APART = {
    "oauth_older.userinfo",  # its address names the application: test_older_userinfo_admits_tokens_of_its_application
    "cross_device.approve",  # the token is in its body: test_own_sign_ins_alone_approve_another_device
}
READING = {
    "accounts.read_own", "consents.logs", "consents.verify", "custom_objects.read", "custom_objects.read_all", "linking.refresh_profile",
    "passkeys.listed", "passwords.own_questions", "self_service.policy_history", "tokens.info", "tokens.validate",
}  # fmt: skip


def takes_token_as_parameter(operation: AnyOperation) -> bool:
    """Return whether a member of the request is the access token of an account."""
    if operation.error_profile is OAUTH or not operation.documentation.is_public or operation.name in OTHER_TOKENS:
        return False
    places = shape_of(operation.request).places
    named = {wire.lower() for place in (From.QUERY, From.BODY, From.HEADER) for wire in places[place].values()}
    return bool(named & AS_PARAMETER)


CARRIED = [operation for operation in CATALOGUE if AuthScheme.ACCESS_TOKEN in operation.admission.auth.schemes()]
SHOWN = [
    operation
    for operation in CATALOGUE
    if AuthScheme.ACCESS_TOKEN not in operation.admission.auth.schemes() and takes_token_as_parameter(operation)
]


def test_operation_with_a_token_declares_its_access() -> None:
    assert [operation.name for operation in (*CARRIED, *SHOWN) if operation.admission.access is None] == []
    assert len(CARRIED) > 70
    assert {operation.documentation.row for operation in SHOWN} - {""} == {"A27", "A28", "A29", "A30"}


def test_operation_without_a_token_declares_no_access() -> None:
    taking = {operation.name for operation in (*CARRIED, *SHOWN)}
    assert [
        operation.name
        for operation in CATALOGUE
        if operation.admission.access is not None and operation.name not in taking
    ] == []


def test_account_read_scope_opens_only_listed_operations() -> None:
    assert {operation.name for operation in CARRIED if operation.admission.access is READ} == READING


def test_only_userinfo_and_revocation_have_standard_access() -> None:
    assert {operation.name for operation in (*CARRIED, *SHOWN) if operation.admission.access is STANDARD} == {
        "oauth_metadata.userinfo",
        "oauth_older.userinfo",
        "tokens.invalidate_shown",
    }


def test_credential_changes_need_fresh_authentication() -> None:
    sensitive = (
        "2fa",
        "passkey",
        "password",
        "pin/",
        "username",
        "auth/email",
        "auth/phone",
        "delete",
        "socialidentity",
    )
    never_less = [
        operation.name
        for operation in CARRIED
        if any(word in operation.path for word in sensitive)
        and "/reauth/" not in operation.path
        and operation.admission.access is not None
        and not operation.admission.access.is_sensitive
    ]
    # These change nothing: they send to a known address or number, or read.
    assert sorted(never_less) == ["passkeys.listed", "phones.send_code", "verification.send_own"]


class Tokens:
    """Creates tokens of one account, each stored as its flow stores it."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant, self.now = tenant, tenant.services.clock.now()
        self.uid = str(tenant.create()["Uid"])
        for access in get_args(Access):
            self._register(access)

    def _register(self, access: Access) -> None:
        stated = ApplicationSettings(name=f"app-{access}", interface_access=access)
        row = {
            "tenant_id": self.tenant.tenant_id, "client_id": access, "name": f"app-{access}", "secret_hash": None,
            "settings": stated.model_dump(mode="json"), "created_at": self.now,
        }  # fmt: skip
        self._add(applications, row)

    def _add(self, table: Any, row: dict[str, Any]) -> None:
        with UnitOfWork(self.tenant.services.database, self.tenant.tenant_id).separate_transaction() as work:
            work.run(insert(table), row)

    def made(
        self, client: str | None, scope: str = "", seconds_since_login: int = 0, ends: int = 3600, **facts: Any
    ) -> str:
        """Return a token whose person signed in so many seconds ago; a negative number leaves the login time out."""
        text = randomness.guid()
        at = int((self.now - timedelta(seconds=seconds_since_login)).timestamp())
        known = {"issuer": "x", **({"auth_time": at} if seconds_since_login >= 0 else {}), **facts}
        row = {
            "tenant_id": self.tenant.tenant_id, "token_hash": randomness.digest(text), "uid": self.uid, "client_id": client,
            "session_id": None, "family_id": randomness.token(18), "scope": scope, "issued_at": self.now,
            "facts": known, "expires_at": self.now + timedelta(seconds=ends),
        }  # fmt: skip
        self._add(access_tokens, row)
        return text

    def second_factor(self) -> str:
        text = randomness.guid()
        row = {
            "tenant_id": self.tenant.tenant_id, "purpose": ContinuationPurpose.SECOND_FACTOR, "uid": self.uid,
            "token_hash": randomness.digest(text), "facts": {}, "state": "open", "created_at": self.now,
            "expires_at": self.now + timedelta(hours=1),
        }  # fmt: skip
        self._add(token_table, row)
        return text


BOTH = "openid " + " ".join(INTERFACE_SCOPES)
Access = Literal["none", "read", "full"]
Made = Callable[[Tokens], str]
KINDS: dict[str, Made] = {
    "interface, stale": lambda item: item.made(None, seconds_since_login=3600),
    "interface, fresh": lambda item: item.made(None),
    "interface, without login time": lambda item: item.made(None, seconds_since_login=-1),
    "impersonation": lambda item: item.made(None, act={"sub": "acme@server"}),
    "application, no access": lambda item: item.made("none", "openid profile"),
    "application, scope without access": lambda item: item.made("none", BOTH),
    "application, access without scope": lambda item: item.made("full", "openid profile"),
    "application, read": lambda item: item.made("read", "openid account:read"),
    "application, write where read is left": lambda item: item.made("read", BOTH),
    "application, full, stale": lambda item: item.made("full", BOTH, seconds_since_login=601),
    "application, full, fresh": lambda item: item.made("full", BOTH),
    "application that is gone": lambda item: item.made("removed", BOTH),
    "expired": lambda item: item.made(None, ends=-1),
}
OPENS_NOTHING = ("machine", "second factor", "foreign tenant", "expired", "application that is gone")


def admits(operation: AnyOperation, kind: str, *, needs_fresh_login: bool) -> bool:
    """Return whether the declaration admits this kind of token."""
    access = operation.admission.access or NEVER
    if kind == "expired":
        return access is STANDARD and operation in SHOWN  # revoking an expired token succeeds
    if kind in OPENS_NOTHING:
        return kind == "application that is gone" and access is STANDARD
    if kind == "impersonation":
        return not access.is_sensitive
    if kind.startswith("interface"):
        return not (needs_fresh_login and access.is_sensitive and kind != "interface, fresh")
    if access.scope is None:
        return False
    stored = {
        "application, read": INTERFACE_SCOPES[:1],
        "application, write where read is left": INTERFACE_SCOPES[:1],
        "application, full, stale": INTERFACE_SCOPES,
        "application, full, fresh": INTERFACE_SCOPES,
    }.get(kind, ())
    is_fresh = not access.is_sensitive or kind == "application, full, fresh"
    return (not access.scope or access.scope in stored) and is_fresh


def is_admitted(operation: AnyOperation, answer: TestResponse, kind: str) -> bool:
    """Return whether the token was admitted, whatever the operation then answered."""
    if operation in SHOWN:
        return refusal(answer) not in ((403, 905), (403, 906))
    if operation.error_profile is OAUTH:
        return (
            refusal(answer) != (401, "invalid_token") or kind == "application that is gone"
        )  # userinfo checks the client itself
    return refusal(answer) not in ((401, 1409), (403, 906), (403, 1143), (403, 1193))


def ask(caller: Caller, operation: AnyOperation, token: str) -> TestResponse:
    if operation not in SHOWN:
        return caller.ask(operation, headers={"Authorization": f"Bearer {token}"})
    name = "token" if operation.documentation.row == "A30" else "access_token"
    return caller.ask(operation, query={name: token})


def every_kind(caller: Caller, globex: TenantServer) -> dict[str, Made]:
    other = Tokens(globex)
    return {
        **KINDS,
        "machine": lambda _: caller.machine,
        "second factor": lambda item: item.second_factor(),
        "foreign tenant": lambda _: other.made(None),
    }


def test_every_operation_admits_the_tokens_it_declares(
    new_tenant_server: NewTenantServer, globex: TenantServer, identity_app: Flask
) -> None:
    caller = Caller(new_tenant_server(**UNLIMITED), identity_app)
    check(caller, every_kind(caller, globex), needs_fresh_login=False)


def test_own_sign_ins_alone_approve_another_device(
    new_tenant_server: NewTenantServer, globex: TenantServer, identity_app: Flask
) -> None:
    """Its access is NEVER: no token of an application, and none that is less than a sign-in of its person."""
    caller = Caller(new_tenant_server(**UNLIMITED, qr_sign_on=True), identity_app)
    tenant = caller.tenant
    kinds: dict[str, Made] = {
        **every_kind(caller, globex),
        "interface, bound": lambda item: item.made(None, cnf={"jkt": "x"}),
        "interface, before the privacy policy": lambda item: item.made(None, before={"methods": ["pwd"]}),
        "interface, of an organization that was left": lambda item: item.made(None, org_id="gone"),
    }
    stored, answers = Tokens(tenant), {}
    for kind, make in kinds.items():
        code = (tenant.send("GET", "/sso/mobile/generate", with_secret=True).json or {})["code"]
        body = {"code": code, "access_token": make(stored)}
        answer = tenant.send("POST", "/sso/mobile/token", body, with_secret=False)
        answers[kind] = answer.status_code if answer.status_code == 200 else refusal(answer)
    own = {"interface, stale", "interface, fresh", "interface, without login time"}
    expected: dict[str, Any] = {kind: 200 if kind in own else (403, 905) for kind in kinds} | {"expired": (403, 906)}
    assert answers == expected


def test_older_userinfo_admits_tokens_of_its_application(
    new_tenant_server: NewTenantServer, globex: TenantServer, identity_app: Flask
) -> None:
    """The application whose address is called, with the scope openid, and without what a token of it may have to fulfil."""
    caller = Caller(new_tenant_server(**UNLIMITED), identity_app)
    tenant, stored = caller.tenant, Tokens(caller.tenant)
    kinds: dict[str, Made] = {
        **every_kind(caller, globex),
        "application, without openid": lambda item: item.made("full", "profile"),
        "application, bound to a key": lambda item: item.made("full", BOTH, cnf={"jkt": "x"}),
        "application, bound to a certificate": lambda item: item.made("full", BOTH, cnf={"x5t#S256": "x"}),
        "application, of an organization that was left": lambda item: item.made("full", BOTH, org_id="gone"),
        "application, expired": lambda item: item.made("full", BOTH, ends=-1),
        "application, for an actor": lambda item: item.made("full", BOTH, act={"sub": "orders@client"}),
    }

    def ask_at(site: str, app: str, make: Made) -> Any:
        answer = tenant.send("GET", f"/sso/oidc/v2/{site}/{app}/userinfo", bearer=make(stored), with_secret=False)
        return answer.status_code if answer.status_code == 200 else refusal(answer)

    of_application = {
        "application, access without scope", "application, full, stale", "application, full, fresh", "application, for an actor",
    }  # fmt: skip
    narrow = {"impersonation", "application, without openid", *(kind for kind in kinds if kind.startswith("interface"))}
    expected: dict[str, Any] = {
        kind: (403, "insufficient_scope") if kind in narrow else (401, "invalid_token") for kind in kinds
    }
    expected |= dict.fromkeys(of_application, 200)
    assert {kind: ask_at(tenant.name, "app-full", make) for kind, make in kinds.items()} == expected
    other = {kind: ask_at(tenant.name, "app-none", make) for kind, make in kinds.items() if kind in of_application}
    assert set(other.values()) == {(401, "invalid_token")}, "the address of another application"
    assert ask_at(tenant.name, "app-none", kinds["application, no access"]) == 200
    foreign = {kind: ask_at(globex.name, "app-full", make) for kind, make in kinds.items()}
    assert 200 not in foreign.values(), "the address of another tenant"


@before_the_store
def test_setting_demands_fresh_authentication_of_api_tokens(
    new_tenant_server: NewTenantServer, identity_app: Flask
) -> None:
    caller = Caller(new_tenant_server(**UNLIMITED, fresh_proof_for_credentials=True), identity_app)
    check(caller, {kind: made for kind, made in KINDS.items() if kind.startswith("interface")}, needs_fresh_login=True)


def check(caller: Caller, kinds: dict[str, Made], *, needs_fresh_login: bool) -> None:
    """Call every operation with every kind of token and compare the responses with the declarations."""
    stored = Tokens(caller.tenant)
    counted: Counter[str] = Counter()
    wrong = []
    for operation in (item for item in (*CARRIED, *SHOWN) if item.name not in TESTED_APART):
        for kind, make in kinds.items():
            answer = ask(caller, operation, make(stored))
            expected = admits(operation, kind, needs_fresh_login=needs_fresh_login)
            counted["admitted" if expected else "refused"] += 1
            if is_admitted(operation, answer, kind) is not expected:
                wrong.append((operation.name, kind, expected, answer.status_code, answer.text[:160]))
    number = len(CARRIED) + len(SHOWN)
    print(f"{number} operations × {len(kinds)} kinds of tokens = {counted.total()} calls: {dict(counted)}")
    assert wrong == [], "\n".join(map(str, wrong))


@before_the_store
def test_members_of_u16_decide_about_fresh_authentication(
    new_tenant_server: NewTenantServer, identity_app: Flask
) -> None:
    tenant = new_tenant_server(**UNLIMITED)
    stored = Tokens(tenant)
    body: dict[str, Any]
    for body in ({"FirstName": "Eve"}, {"Company": "x"}):
        stale = stored.made("full", BOTH, seconds_since_login=601)
        assert tenant.send("PUT", "/identity/v2/auth/account", body, bearer=stale).status_code == 200, body
    for body in (
        {"Password": "Quartz-lantern-58"}, {"password": "Quartz-lantern-58"}, {"PASSWORD": "Quartz-lantern-58"}, {"UserName": "eve"},
        {"user_name": "eve"}, {"username": "eve"}, {"PhoneId": "+4915112345678"}, {"phone_id": "+4915112345678"}, {"Email": []},
        {"SecurityQuestionAnswer": {"pet": "x"}}, {"security_question_answer": {"pet": "x"}}, {"PINInfo": {"PIN": "1234"}},
        {"pin_info": {"PIN": "1234"}}, {"FirstName": "Eve", "PiNiNfO": {"Skipped": True}},
    ):  # fmt: skip
        stale = stored.made("full", BOTH, seconds_since_login=601)
        assert refusal(tenant.send("PUT", "/identity/v2/auth/account", body, bearer=stale)) == (403, 1193), body


def test_withdrawn_access_ends_at_once(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(**UNLIMITED)
    stored = Tokens(tenant)
    token = stored.made("full", BOTH)
    assert tenant.send("GET", "/identity/v2/auth/account", bearer=token).status_code == 200
    stated = ApplicationSettings(name="app-full", interface_access="none").model_dump(mode="json")
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        where = (applications.c.tenant_id == tenant.tenant_id, applications.c.client_id == "full")
        work.run(applications.update().where(*where).values(settings=stated))
    tenant.change_settings()
    assert refusal(tenant.send("GET", "/identity/v2/auth/account", bearer=token)) == (403, 1143)
