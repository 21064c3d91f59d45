"""A check that is added in one place holds for every request of its kind, also for a client whose last request was accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from werkzeug.test import TestResponse

from app.contract.auth import AuthScheme, Host
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.errors import BadParameter
from app.contract.oauth import oauth_metadata, oauth_token_operations
from app.contract.step_reasons import RefusedPart
from app.contract.steps import ConsentStep, RefusedStep, StartAgainStep
from app.contract.tenants import tenant_pages
from app.contract.visitor_claims import VisitorClaims
from app.identity import create_app, create_service
from app.identity.assembly.admission.operation_admission import OperationAdmission
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import authorization_checks
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, RefusedOnPage, UncheckedRequest
from app.kit.operations.auth import Auth
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import WRITES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.organizations.management import PATH as ORGANIZATIONS
from tests.support.tenants.machines import audience, machine
from tests.support.tenants.tenant_server import MANAGE, TenantServer, answered
from tests.support.visitors.answered_step import AnsweredStep
from tests.support.visitors.plain_client import PlainClient

load_catalogue()
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
ADDED: Final = "The added check refuses."
USERINFO: Final = "/service/oidc/userinfo"
METHODS: Final = ("admit_before_body", "admit_with_body")


@dataclass
class AddedCheck:
    """A check that refuses once it is switched on: a result that was cached when it passed would still let requests in."""

    refuses: bool = False

    def admit(self, context: Context, *_: Any) -> None:
        if self.refuses:
            assert context.operation is not None
            raise context.operation.error_profile.bad_parameter(ADDED)

    def authorize(self, _request: UncheckedRequest) -> None:
        if self.refuses:
            raise RefusedByRedirect("invalid_request", ADDED)

    def know_client(self, _request: UncheckedRequest) -> None:
        if self.refuses:
            raise RefusedOnPage(RefusedPart.CLIENT, "invalid_request", ADDED)

    def still_holds(self, *_: Any) -> bool:
        return not self.refuses

    def add_to(self, owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let a function that admits a request end with this check."""
        monkeypatch.setattr(owner, name, self.after(getattr(owner, name)))

    def after(self, checks: Callable[..., None]) -> Callable[..., None]:
        def checks_and_added(*arguments: Any) -> None:
            checks(*arguments)
            self.admit(next(one for one in arguments if isinstance(one, Context)))

        return checks_and_added


@pytest.fixture
def added() -> AddedCheck:
    return AddedCheck()


@dataclass
class Asker:
    """Sends requests of every kind to a server that started with what was added before."""

    world: World
    client: RelyingParty
    browser: Browser
    person: Person
    machine_token: str

    def grants(self) -> dict[str, dict[str, str]]:
        """Return what each grant needs; the last two are refused by the grant itself."""
        redeemed = self.client.redeem(self.browser.code(self.client, self.person, scope="openid offline_access")).json
        return {
            "authorization_code": {
                "code": self.browser.code(self.client, self.person),
                "redirect_uri": self.client.redirect_uri,
            },
            "refresh_token": {"refresh_token": str((redeemed or {})["refresh_token"])},
            "client_credentials": {},
            "urn:ietf:params:oauth:grant-type:device_code": {"device_code": "x"},
            "unknown": {},
        }

    def of_clients(self) -> Iterator[tuple[str, TestResponse]]:
        """Yield the answers to requests of clients."""
        credentials = self.client.client_credentials()
        for grant, form in self.grants().items():
            yield grant, self.client.back("token", {"grant_type": grant, **credentials, **form})
        own = self.client.at_own_issuer()
        yield "own issuer", own.back("token", {"grant_type": "client_credentials", **credentials})
        for what in ("introspect", "revoke"):
            yield what, self.client.back(what, {"token": "x", **credentials})
        yield "push", self.client.push()
        yield "device", self.client.start_device()
        yield "machine token", self.client.post("/service/oauth/token", credentials)
        base, query = f"http://{self.world.services.settings.api_hostname}", {"apikey": self.world.api_key}
        path = "/sso/oauth/access_token"
        yield path, self.world.wsgi.post(path, base_url=base, query_string=query, data=credentials)

    def of_persons(self, token: str) -> Iterator[tuple[str, TestResponse]]:
        """Yield the answers to requests with an access token."""
        bearer = {"Authorization": f"Bearer {token}"}
        yield "GET", self.client.get(USERINFO, headers=bearer)
        yield "POST", self.client.post(USERINFO, headers=bearer)
        yield "body", self.client.post(USERINFO, {"access_token": token})
        yield "own issuer", self.client.at_own_issuer().userinfo(token)

    def of_programs(self) -> Iterator[tuple[str, TestResponse]]:
        """Yield the answers to requests of servers and machines."""
        query = {"apikey": self.world.api_key, "apisecret": self.world.api_secret}
        base, path = f"http://{self.world.services.settings.api_hostname}", f"{MANAGE}/{self.person.uid}"
        yield "secret", self.world.wsgi.get(path, base_url=base, query_string=query)
        headers = {"X-Acme-ApiKey": query["apikey"], "X-Acme-ApiSecret": query["apisecret"]}
        yield "headers", self.world.wsgi.get(path, base_url=base, headers=headers)
        bearer = {"Authorization": f"Bearer {self.machine_token}"}
        yield "machine", self.world.wsgi.get(path, base_url=base, headers=bearer)
        pair = {"clientID": self.client.client_id, "clientSecret": self.client.secret}
        for key in ({}, {"apikey": query["apikey"]}):
            yield f"pair {len(key)}", self.world.wsgi.get(ORGANIZATIONS, base_url=base, query_string={**key, **pair})

    def of_documents(self) -> Iterator[tuple[str, TestResponse]]:
        """Yield the answers to requests for metadata and keys, each twice: the second is cached."""
        home = self.world.services.settings.hub_url(self.world.name)
        for path in (
            "/.well-known/openid-configuration",
            "/.well-known/oauth-authorization-server",
            "/service/oidc/jwks",
        ):
            yield path, self.world.wsgi.get(path, base_url=home)
            yield f"{path} again", self.world.wsgi.get(path, base_url=home)

    def of_hub(self) -> Iterator[tuple[str, TestResponse]]:
        """Yield the answers to calls of the hub."""
        yield "tenant", self.browser.send("GET", "/hub/tenant", b"")
        yield "client", self.browser.own_client(self.client.name)
        yield "authorize", self.browser.send("POST", "/hub/authorize", b'{"Protocol": "oidc", "Parameters": []}')


NewAsker = Callable[[], Asker]


@pytest.fixture
def new_asker(world: World, ada: Person, acme: TenantServer) -> NewAsker:
    """Make one whose server starts now: it works its steps out from the declarations of that moment."""
    token = machine(replace(acme, tenant_id=world.tenant_id, name=world.name), "profile:read")
    kinds = ["authorization_code", "refresh_token", "client_credentials"]
    scopes = {audience(acme): ["organization:read"]}
    client = world.application("Asks", grant_types=kinds, audience_scopes=scopes, jwks=public_jwks(client_key("ES256")))

    def make() -> Asker:
        wsgi = PlainClient(create_app(create_service(world.services)))
        fresh = replace(world, wsgi=wsgi)
        return Asker(fresh, replace(client, wsgi=wsgi), fresh.browser().signed_in(ada), ada, token)

    return make


def accepted(answers: Iterator[tuple[str, TestResponse]]) -> dict[str, bool]:
    """Return of each kind whether the added check let it pass."""
    return {name: ADDED not in answer.text for name, answer in answers}


def all_pass_then_none(added: AddedCheck, ask: Callable[[], Iterator[tuple[str, TestResponse]]]) -> None:
    """The same server must refuse a request that it has just accepted."""
    for refuses in (False, True):
        added.refuses = refuses
        found = accepted(ask())
        assert found == dict.fromkeys(found, not refuses)


KINDS: Final[Mapping[str, Callable[[Asker], Iterator[tuple[str, TestResponse]]]]] = {
    "clients": Asker.of_clients,
    "programs": Asker.of_programs,
    "documents": Asker.of_documents,
    "hub": Asker.of_hub,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [*KINDS, "persons"])
def test_check_added_to_admission_refuses_every_caller(
    new_asker: NewAsker, added: AddedCheck, monkeypatch: pytest.MonkeyPatch, method: str, kind: str
) -> None:
    added.add_to(OperationAdmission, method, monkeypatch)
    asker = new_asker()
    body = asker.client.redeem(asker.browser.code(asker.client, asker.person)).json or {}
    if kind == "persons":
        all_pass_then_none(added, lambda: asker.of_persons(body["access_token"]))
        return
    forms = asker.grants()  # made while the check accepts the hub
    asker.grants = lambda: forms  # type: ignore[method-assign]  # of this one
    all_pass_then_none(added, lambda: KINDS[kind](asker))


def test_check_added_for_holders_refuses_every_access_token(
    new_asker: NewAsker, added: AddedCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    added.add_to(reauthentication_rules, "require_for_token", monkeypatch)
    asker = new_asker()
    body = asker.client.redeem(asker.browser.code(asker.client, asker.person)).json or {}
    all_pass_then_none(added, lambda: asker.of_persons(body["access_token"]))


@pytest.mark.parametrize("method", METHODS)
def test_check_added_to_admission_refuses_calls_in_the_process(
    world: World, added: AddedCheck, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    added.add_to(OperationAdmission, method, monkeypatch)
    call = LocalClient(create_service(world.services), Host.INSIDE, VisitorClaims(host=world.browser().host))
    for _ in range(2):
        assert call(tenant_pages.tenant, tenant_pages.TenantRequest()).tenant is not None
    added.refuses = True
    for _ in range(2):
        with pytest.raises(BadParameter, match=ADDED):
            call(tenant_pages.tenant, tenant_pages.TenantRequest())


def test_check_added_for_holders_refuses_at_every_operation(
    acme: TenantServer, added: AddedCheck, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    added.add_to(reauthentication_rules, "require_for_token", monkeypatch)
    token = acme.tokens(acme.create()["Uid"])["access_token"]
    app: Any = create_app(create_service(acme.services))
    server = replace(acme, app=app)
    assert answered(server.send("GET", "/identity/v2/auth/account", bearer=token))
    added.refuses = True
    for operation in CATALOGUE:
        if AuthScheme.ACCESS_TOKEN in operation.admission.auth.schemes() and operation.host is Host.API:
            path = re.sub(r"{\w+}", "x", operation.path.replace("{site}", acme.name))
            named: dict[str, Any] = dict.fromkeys(operation.when[:1], "x")
            body: Any = {} if operation.method in WRITES else None
            for holds in ({"bearer": token}, {"access_token": token, "with_secret": False}):
                with subtests.test(operation.name):
                    assert ADDED in server.send(operation.method, path, body, **holds, **named).text


def test_every_operation_passes_an_added_check(
    world: World, added: AddedCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in METHODS:
        added.add_to(OperationAdmission, method, monkeypatch)
    lifecycle: Any = create_service(world.services).lifecycle
    for operation in CATALOGUE:
        admission = lifecycle.admission_of(operation)
        for method in METHODS:
            assert getattr(admission, method).__func__ is vars(OperationAdmission)[method], operation.name


@contextmanager
def declared(operation: AnyOperation, auth: Auth) -> Iterator[None]:
    """Let the operation take other credentials."""
    before = operation.admission
    object.__setattr__(operation, "admission", replace(before, auth=auth))
    operation.__post_init__()
    try:
        yield
    finally:
        object.__setattr__(operation, "admission", before)
        operation.__post_init__()


KEY: Final = Auth.of(AuthScheme.API_KEY)


def test_scheme_added_to_a_declaration_is_demanded(new_asker: NewAsker) -> None:
    userinfo = oauth_metadata.userinfo
    introspect = oauth_token_operations.introspect
    token = oauth_token_operations.token
    former = new_asker()
    body = former.client.redeem(former.browser.code(former.client, former.person)).json or {}
    assert {answer.status_code for _, answer in former.of_persons(body["access_token"])} == {200}
    with (
        declared(userinfo, userinfo.admission.auth & KEY),
        declared(introspect, introspect.admission.auth & KEY),
        declared(token, token.admission.auth & KEY),
    ):
        asker = new_asker()
        answers = [answer for _, answer in asker.of_persons(body["access_token"])]
        credentials = asker.client.client_credentials()
        answers += [asker.client.back("introspect", {"token": "x", **credentials})]
        kinds = ("authorization_code", "refresh_token", "client_credentials", "unknown")
        answers += [asker.client.back("token", {"grant_type": kind, **credentials}) for kind in kinds]
        assert {(answer.status_code, "apikey" in answer.text) for answer in answers} == {(400, True)}
        headers = {"Authorization": f"Bearer {body['access_token']}", "X-Acme-ApiKey": asker.world.api_key}
        assert asker.client.get(USERINFO, headers=headers).status_code == 200


def test_secret_added_to_a_hub_operation_is_demanded(new_asker: NewAsker) -> None:
    with declared(tenant_pages.tenant, tenant_pages.tenant.admission.auth & Auth.of(AuthScheme.API_SECRET)):
        asker = new_asker()
        answers = [asker.browser.send("GET", "/hub/tenant", b"") for _ in range(2)]
        assert {answer.status_code for answer in answers} == {500}  # no operation of the hub declares 923


def kinds_of_authorization(asker: Asker) -> Iterator[tuple[str, Callable[[Browser], AnsweredStep]]]:
    """Yield each kind of authorization request, already pushed or signed, for a browser to bring."""
    client = asker.client
    plain = client.authorization_parameters()
    yield "plain", lambda browser: browser.authorize(plain)
    own = client.at_own_issuer()
    yield "own issuer", lambda browser: browser.authorize(own.authorization_parameters(), app=own.app)
    text = Signer(client).request_object(state="signed")
    signed: dict[str, str | None] = {"client_id": client.client_id, "request": text}
    yield "signed", lambda browser: browser.authorize(signed)
    for name, form in (("pushed", {}), ("pushed signed", {**dict.fromkeys(plain), **signed})):
        pushed = client.push(**form).json or {}
        address: dict[str, str | None] = {"client_id": client.client_id, "request_uri": pushed["request_uri"]}
        yield name, lambda browser, address=address: browser.authorize(address)  # type: ignore[misc]  # bound now


def refused_authorizations(asker: Asker, added: AddedCheck) -> Iterator[tuple[str, AnsweredStep]]:
    """Yield what the added check makes of each kind of request, after each was accepted once: twice signed in, and once not."""
    for _, send in list(kinds_of_authorization(asker)):
        assert parameters_of(send(asker.browser))["code"]
    requests = list(kinds_of_authorization(asker))
    added.refuses = True
    for name, send in requests:
        for browser in (asker.browser, asker.browser, asker.world.browser()):
            yield name, send(browser)


def test_added_parameter_check_refuses_every_authorization(
    new_asker: NewAsker, added: AddedCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (*authorization_checks.PARAMETER_CHECKS, added.authorize)
    monkeypatch.setattr(authorization_checks, "PARAMETER_CHECKS", table)
    asker = new_asker()
    for name, page in refused_authorizations(asker, added):
        refused = parameters_of(page)
        assert (refused["error_description"], "code" in refused) == (ADDED, False), name
    assert asker.client.push().json == {"error": "invalid_request", "error_description": ADDED}


def test_added_client_check_refuses_every_authorization(
    new_asker: NewAsker, added: AddedCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (*authorization_checks.CLIENT_CHECKS, added.know_client)
    monkeypatch.setattr(authorization_checks, "CLIENT_CHECKS", table)
    asker = new_asker()
    for name, page in refused_authorizations(asker, added):
        assert (page.kind, page.description, page.address) == (RefusedStep, ADDED, None), name
    assert asker.client.push().json == {"error": "invalid_request", "error_description": ADDED}


STEPS: Final[Mapping[str, Callable[[Browser, str, Person], AnsweredStep]]] = {
    "sign in": lambda browser, attempt, person: browser.sign_in(attempt, person.email, person.password),
    "resume": lambda browser, attempt, _: browser.resume(attempt),
    "accounts": lambda browser, attempt, _: browser.accounts(attempt),
    "account": lambda browser, attempt, person: browser.choose_account(attempt, person.uid),
    "organization": lambda browser, attempt, _: browser.choose(attempt, ""),
    "consent": lambda browser, attempt, _: browser.consent(attempt, allow=False),
}


@pytest.mark.parametrize("step", STEPS)
def test_added_recheck_ends_every_sign_in_that_began_before(
    new_asker: NewAsker, added: AddedCheck, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(authorization_checks, "RECHECKS", (*authorization_checks.RECHECKS, added.still_holds))
    asker = new_asker()
    asker.world.change(asker.client, require_consent=True)
    for refuses in (False, True):
        for name, send in kinds_of_authorization(asker):
            added.refuses, browser = False, asker.world.browser()
            attempt = send(browser).interaction_id or ""
            if step != "sign in":
                assert browser.sign_in(attempt, asker.person.email, asker.person.password).kind is ConsentStep
            added.refuses = refuses
            answer = STEPS[step](browser, attempt, asker.person)
            assert (answer.kind is StartAgainStep) is refuses, name
