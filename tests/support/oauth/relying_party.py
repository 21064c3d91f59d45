"""A relying party and a person's browser, as the identity service sees them: the hub's operations and the back channel over WSGI."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from sqlalchemy import update
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.contract.applications.file import DEVICE_GRANT
from app.contract.sessions.pages import sign_out_pages
from app.contract.steps import FormPostStep, RedirectStep, StepResponse
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import FixedClock
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.kit.operations.request_parsing import INSIDE
from tests.support.visitors.answered_step import AnsweredStep


@dataclass(frozen=True)
class Pkce:
    """A verifier and its S256 challenge."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class Person:
    """An account, and the password that opens it."""

    services: IdentityServices
    tenant_id: str
    uid: str
    email: str
    password: str

    def close(self) -> None:
        """Block the account, as a management operation of another process would."""
        self.set_columns(is_active=False)

    def set_columns(self, **columns: Any) -> None:
        """Change columns of the account's row."""
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            where = (accounts.c.tenant_id == self.tenant_id, accounts.c.uid == self.uid)
            work.run(update(accounts).where(*where).values(**columns))


@contextmanager
def moved(services: IdentityServices, **by: float) -> Iterator[None]:
    """Let the service's clock stand ahead by a timedelta's keywords."""
    clock = services.clock
    services.clock = FixedClock(clock.now() + timedelta(**by))
    try:
        yield
    finally:
        services.clock = clock


@dataclass
class Browser:
    """A browser at a tenant's hub: keeps the session and each attempt's binding, as the hub's cookies would."""

    services: IdentityServices
    wsgi: WsgiClient
    tenant_name: str
    address: str = "192.0.2.7"
    session: str | None = None
    others: tuple[str, ...] = ()
    bindings: dict[str, str] = field(default_factory=dict)
    cost: str = ""
    shown: str = ""
    """The account that the last page named."""
    typed: str | None = None
    """The password that the person typed to reauthenticate."""
    posted: str = ""
    """The account that the page of the posted form showed."""

    @property
    def host(self) -> str:
        return f"{self.tenant_name}.{self.services.settings.hub_domain}"

    def authorize(
        self,
        parameters: Mapping[str, str | None] | list[tuple[str, str]],
        *,
        app: str | None = None,
        protocol: str = "oidc",
    ) -> AnsweredStep:
        pairs = (
            parameters
            if isinstance(parameters, list)
            else [(name, value) for name, value in parameters.items() if value is not None]
        )
        return self._post("/hub/authorize", {"Protocol": protocol, "App": app, "Parameters": pairs})

    def sign_in(self, interaction_id: str | None, email: str, password: str) -> AnsweredStep:
        return self._post(
            "/hub/sign-in", {"InteractionId": interaction_id, "Identifier": email, "Password": password}, interaction_id
        )

    def consent(self, interaction_id: str, allow: bool, refused: Iterable[str] = ()) -> AnsweredStep:
        members = {"InteractionId": interaction_id, "Allow": allow, "Refused": list(refused), "Account": self.shown}
        return self._post("/hub/consent", members, interaction_id)

    def accounts(self, interaction_id: str) -> AnsweredStep:
        return self._send("GET", f"/hub/accounts/{quote(interaction_id)}", b"", interaction_id)

    def choose_account(self, interaction_id: str, account: str = "", sign_out: str = "") -> AnsweredStep:
        """Choose an account of the browser, sign out of one, or go on to another one."""
        members = {"InteractionId": interaction_id, "Account": account, "SignOut": sign_out}
        return self._post("/hub/accounts/choose", members, interaction_id)

    def type_code(self, user_code: str) -> AnsweredStep:
        """Type the code that a device shows."""
        return self._post("/hub/device", {"UserCode": user_code})

    def allow_device(self, interaction_id: str | None, *, allow: bool = True) -> AnsweredStep:
        members = {"InteractionId": interaction_id, "Allow": allow, "Account": self.shown}
        return self._post("/hub/device/decision", members, interaction_id)

    def choose(self, interaction_id: str, organization: str) -> AnsweredStep:
        """Choose an organization; an empty one is the personal account."""
        return self._post(
            "/hub/organization", {"InteractionId": interaction_id, "Organization": organization}, interaction_id
        )

    def resume(self, interaction_id: str) -> AnsweredStep:
        return self._send("GET", f"/hub/interactions/{quote(interaction_id)}", b"", interaction_id)

    def reopen(self, interaction_id: str) -> AnsweredStep:
        return self._post(f"/hub/interactions/{quote(interaction_id)}/reopen", {}, interaction_id)

    def sign_out(self, **members: Any) -> AnsweredStep:
        named = {
            sign_out_pages.SignOutRequest.model_fields[name].alias or name: value for name, value in members.items()
        }
        return self._post("/hub/sign-out", named)

    def signed_in(self, person: Person) -> Browser:
        """Sign the person in, unless the browser is signed in."""
        if self.session is None:
            self.sign_in(None, person.email, person.password)
        return self

    def code(self, client: RelyingParty, person: Person, **changed: str | None) -> str:
        """Return a code that the client may redeem for the person, through the client's issuer."""
        step = self.signed_in(person).authorize(
            client.authorization_parameters(**changed), app=client.app, protocol=client.protocol
        )
        return code_of(step)

    def spent(self, answer: TestResponse | None = None) -> dict[str, int]:
        """Return what the last call cost, or the given answer's."""
        text = answer.headers["X-Gatehouse-Cost"] if answer is not None else self.cost
        return {name: int(number) for name, number in (part.split("=") for part in text.split("; "))}

    def own_client(self, name: str) -> TestResponse:
        return self.send("GET", f"/hub/clients/{name}", b"")

    def _post(self, path: str, members: Mapping[str, Any], interaction_id: str | None = None) -> AnsweredStep:
        return self._send("POST", path, json.dumps(members).encode(), interaction_id)

    def _send(self, method: str, path: str, body: bytes, interaction_id: str | None = None) -> AnsweredStep:
        response = self.send(method, path, body, interaction_id)
        assert response.status_code == 200, response.text
        step = AnsweredStep(StepResponse.model_validate_json(response.data))
        if step.session is not None:
            self.session = step.session.token
        if step.ends_session:
            self.session = None
        if step.person is not None:
            self.shown = step.person.uid
        if step.other_sessions is not None:
            self.others = tuple(step.other_sessions.tokens)
        if step.binding is not None and step.interaction_id is not None:
            self.bindings[step.interaction_id] = step.binding
        return step

    def send(self, method: str, path: str, body: bytes, interaction_id: str | None = None) -> TestResponse:
        binding = self.bindings.get(interaction_id) if interaction_id else None
        visit = VisitorClaims(
            host=self.host,
            session=self.session,
            others=self.others,
            binding=binding,
            password=self.typed,
            account=self.posted,
            address=self.address,
            agent="Test/1.0",
        ).to_header()
        headers = {VISIT_HEADER: visit, SIGNATURE_HEADER: self._sign(method, path, body, visit)}
        if body:
            headers["Content-Type"] = "application/json"
        response = self.wsgi.open(
            path,
            method=method,
            data=body,
            headers=headers,
            base_url=self.services.settings.base_url,
            environ_overrides={INSIDE: True},
        )
        self.cost = response.headers.get("X-Gatehouse-Cost", "")
        return response

    def _sign(self, method: str, path: str, body: bytes, visit: str) -> str:
        at = int(self.services.clock.now().timestamp())
        return signature(self.services.hub_keys, method, path, body, visit, at, randomness.token(16))


@dataclass
class RelyingParty:
    """An application's server or script: its credentials and how it asks. `app` set: at the application's own issuer."""

    services: IdentityServices
    wsgi: WsgiClient
    tenant_name: str
    api_key: str
    client_id: str
    redirect_uri: str
    name: str = ""
    secret: str | None = None
    app: str | None = None
    protocol: str = "oidc"
    address: str = "198.51.100.9"

    @property
    def hub_url(self) -> str:
        return self.services.settings.hub_url(self.tenant_name)

    @property
    def issuer(self) -> str:
        return f"{self.hub_url}/service/{self.protocol}/{self.app}" if self.app else self.hub_url

    def at_own_issuer(self) -> RelyingParty:
        """Return the same client as it speaks to its own issuer."""
        return replace(self, app=self.name)

    def as_client(self, client_id: str, redirect_uri: str) -> RelyingParty:
        """Return another, public client of the same tenant."""
        return replace(self, client_id=client_id, redirect_uri=redirect_uri, secret=None, app=None, name=client_id)

    def authorization_parameters(self, **changed: str | None) -> dict[str, str | None]:
        """Return the parameters of an authorization request."""
        requested: dict[str, str | None] = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": "openid profile email",
            "state": "a state",
        }
        return {**requested, **changed}

    def back(
        self, what: str, form: Mapping[str, Any] | list[tuple[str, str]] | None = None, **how: Any
    ) -> TestResponse:
        """Post a form to a back-channel address: `token`, `introspect`, `revoke`."""
        path = f"/api/{self.protocol}/{self.app}/{what}" if self.app else f"/api/{self.protocol}/{what}"
        if self.protocol == "oauth" and what == "token" and "query_string" not in how:
            how["query_string"] = {"apikey": self.api_key}
        return self.post(path, form, **how)

    def post(
        self, path: str, form: Mapping[str, Any] | list[tuple[str, str]] | None = None, **how: Any
    ) -> TestResponse:
        stored = (
            form
            if isinstance(form, list) or form is None
            else {name: value for name, value in form.items() if value is not None}
        )
        how.setdefault("environ_overrides", {"REMOTE_ADDR": self.address})
        return self.wsgi.post(path, data=stored, base_url=self.hub_url, **how)

    def get(self, path: str, **how: Any) -> TestResponse:
        return self.wsgi.get(path, base_url=self.hub_url, **how)

    def client_credentials(self) -> dict[str, str | None]:
        """Return the client's credentials as body members."""
        return {"client_id": self.client_id, "client_secret": self.secret}

    def redeem(self, code: str, **changed: str | None) -> TestResponse:
        """Exchange a code; members that are None are left out."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            **self.client_credentials(),
        }
        return self.back("token", {**form, **changed})

    def refresh(self, token: str, **changed: str | None) -> TestResponse:
        return self.back(
            "token", {"grant_type": "refresh_token", "refresh_token": token, **self.client_credentials(), **changed}
        )

    def push(self, **changed: str | None) -> TestResponse:
        """Push an authorization request."""
        return self.back("par", {**self.authorization_parameters(), **self.client_credentials(), **changed})

    def start_device(self, **changed: str | None) -> TestResponse:
        """Start the sign-in of a device."""
        return self.back("device", {**self.client_credentials(), **changed})

    def poll(self, device_code: str, **changed: str | None) -> TestResponse:
        """Ask whether a person allowed the device."""
        form = {"grant_type": DEVICE_GRANT, "device_code": device_code, **self.client_credentials()}
        return self.back("token", {**form, **changed})

    def introspect(self, token: str) -> dict[str, Any]:
        return self.back("introspect", {"token": token, **self.client_credentials()}).json or {}

    def userinfo(self, token: str) -> TestResponse:
        path = f"/service/oidc/{self.app}/userinfo" if self.app else "/service/oidc/userinfo"
        return self.get(path, headers={"Authorization": f"Bearer {token}"})


def parameters_of(step: AnsweredStep) -> dict[str, str]:
    """Return what the answer brings to the relying party, whatever its response mode."""
    if step.kind is FormPostStep:
        return dict(step.fields)
    assert step.kind is RedirectStep, step
    parts = urlsplit(step.address or "")
    return dict(parse_qsl(parts.fragment or parts.query, keep_blank_values=True))


def code_of(step: AnsweredStep) -> str:
    """Return the code that the answer brings."""
    stored = parameters_of(step)
    assert "code" in stored, stored
    return stored["code"]


def claims_in(token: str) -> dict[str, Any]:
    """Return a JWT's claims unverified."""
    part = token.split(".")[1]
    stored: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return stored
