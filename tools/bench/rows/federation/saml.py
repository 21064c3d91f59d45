"""SAML: a response of our identity provider, and a session from the response of another one; beside pysaml2's work on the messages."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from urllib.parse import quote, urlencode

from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.request_writer import AuthnRequestContents
from tests.support.organizations.saml_organization import ATTRIBUTES, DOMAIN, IDP, SIGN_IN, Answer, read_request
from tests.support.saml.service_provider import own_key
from tests.support.saml.signers import Signer, rsa_signer
from tools.bench.measurement import MeasuredLine, Spent, measure
from tools.bench.rows.federation.pysaml2_peer import PysamlPair, cpu_ms
from tools.bench.scene import CHEAP_HASH, Scene, configuration
from tools.bench.visitor import BenchVisitor, MeasuredResponse, Unexpected, path_of

BAR = 0.3
MOST = {"sql": 5, "signatures": 1}
TENANT = "bench-saml"
KEY, SECRET = "5e0c7d1a-0000-4000-8000-00000000be11", "5e0c7d1a-0000-4000-8000-00000000be12"
ENTITY, ACS = "https://wiki.example/saml", "https://wiki.example/acs"
TURNS, TIMES = 6, 40


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """pysaml2 has no pages, sessions or database, which are part of ours."""
    client = {"app_name": "wiki", "issuer_url": ENTITY, "assertion_consumer_service": {"location": ACS}}
    stated = {**configuration(TENANT, CHEAP_HASH), "api_key": KEY, "api_secret": SECRET, "saml_clients": [client]}
    scene.add_tenant(stated)
    peer = PysamlPair.create(scene.folder / "pysaml2", own_key("bench"))
    request_id, message = peer.request()
    response = base64.b64encode(peer.respond(message).encode()).decode()
    spent = measure(scene.product, scene.bare, _responding(scene).respond)
    yield _line("SAML identity provider: AuthnRequest to Response", spent, cpu_ms(lambda: peer.respond(message)))
    spent = _Consuming.create(scene).spent()
    theirs = cpu_ms(lambda: peer.accept(response, request_id))
    yield _line("SAML service provider: Response to session of a member", spent, theirs)


def _line(operation: str, spent: Spent, theirs_ms: float) -> MeasuredLine:
    ratio = spent.cpu_ms / theirs_ms
    excess = [name for name, most in MOST.items() if spent.counts.get(name, 0) > most]
    counts = ", ".join(f"{name} {count:g}" for name, count in spent.counts.items() if count or name in MOST)
    bounds = ", ".join(f"{name} ≤ {most}" for name, most in MOST.items())
    return MeasuredLine(
        operation=operation,
        counts=f"{counts}  ({bounds}); {theirs_ms:.1f} ms of pysaml2",
        measured=f"{spent.cpu_ms:.2f} ms = {ratio:.2f} × pysaml2",
        bar=f"{BAR:g} ×",
        aim=f"{BAR:g} ×",
        is_over=ratio > BAR or bool(excess),
        is_reached=ratio <= BAR and not excess,
    )


@dataclass
class _Responding:
    """A signed-in browser that a service provider sends again and again."""

    browser: BenchVisitor
    login_url: str

    def respond(self, _: int) -> BenchVisitor:
        contents = AuthnRequestContents(issuer=ENTITY, destination=self.login_url, acs_url=ACS)
        request = request_writer.authn_request(contents, datetime.now(UTC))
        sent = message_bindings.redirect_url(request, self.login_url, None, "back")
        if "SAMLResponse" not in self.browser.get(path_of(sent)).expect(200).text:
            raise Unexpected("the identity provider posts no response")
        return self.browser


def _responding(scene: Scene) -> _Responding:
    browser = scene.visitor(TENANT)
    scene.sign_in(browser, 1)
    browser.costs.clear()
    address = f"http://{TENANT}.localhost:{scene.port}/service/saml/idp/login?appname=wiki"
    return _Responding(browser, address)


@dataclass
class _Consuming:
    """The connection of an organization, and a member whom its provider signs in."""

    scene: Scene
    browser: BenchVisitor
    signer: Signer
    connection: dict[str, str]

    @classmethod
    def create(cls, scene: Scene) -> "_Consuming":
        program = BenchVisitor(scene.port, f"api.localhost:{scene.port}")
        signer = rsa_signer("bench provider", from_days=-3_000, to_days=3_000)
        path = "/v2/manage/organizations"
        org_id = _sent(program, "POST", path, {"Name": "Globex"})["Id"]
        _sent(program, "PUT", f"{path}/{org_id}", {"Domains": [{"DomainName": DOMAIN, "IsVerified": True}]})
        role = _sent(program, "POST", f"{path}/{org_id}/roles", {"Name": "Member", "Permissions": []})["Id"]
        body = {
            "Name": "sign-in", "ConnectionType": "saml_custom", "Domain": DOMAIN, "IDPEntityId": IDP, "IDPSignInUrl": SIGN_IN,
            "IDPCertificate": signer.certificate,
        }  # fmt: skip
        connection = _sent(program, "POST", f"{path}/{org_id}/connections", body)
        policies = {"JITPolicy": {"Enabled": True}, "MemberPolicy": {"DefaultMemberRole": role}}
        _sent(program, "PUT", f"{path}/{org_id}/policy", policies)
        return cls(scene, scene.visitor(TENANT), signer, connection)

    def spent(self) -> Spent:
        """Return what the two requests cost that follow the provider's answer; those before it are made before each turn."""
        for _ in range(20):
            self._consume(*self._answered())
        turns: list[float] = []
        counts: list[dict[str, int]] = []
        for _ in range(TURNS):
            ready = [self._answered() for _ in range(TIMES)]
            before = self.scene.product.cpu_seconds()
            counts += [self._consume(*one) for one in ready]
            turns.append((self.scene.product.cpu_seconds() - before) * 1000 / TIMES)
        names = ("api", "sql", "commits", "signatures")
        return Spent(min(turns), 1, {name: float(median(count.get(name, 0) for count in counts)) for name in names})

    def _answered(self) -> tuple[dict[str, str], dict[str, str]]:
        """Begin in a new browser; return its cookies, and the form that the provider posts through it."""
        self.browser.cookies.clear()
        lead = self.browser.get(path_of(self.connection["EntityId"])).expect(302, 303)
        request = read_request(lead.location)
        answer = Answer(
            now=datetime.now(UTC), acs_url=request.acs_url, audience=self.connection["EntityId"], request_id=request.id,
            attributes=dict(ATTRIBUTES),
        )  # fmt: skip
        form = {"SAMLResponse": answer.posted(signer=self.signer), "RelayState": request.relay_state}
        return dict(self.browser.cookies), form

    def _consume(self, cookies: dict[str, str], form: dict[str, str]) -> dict[str, int]:
        self.browser.cookies.clear()
        self.browser.costs.clear()
        posted = self.browser.post(path_of(self.connection["ACSEndpoint"]), form, Origin="https://idp.globex.example")
        self.browser.cookies.update(cookies)
        back: MeasuredResponse = self.browser.get(path_of(posted.expect(303).location)).expect(302, 303)
        if path_of(back.location) != "/profile":
            raise Unexpected(f"the sign-in led to {back.location}")
        counts = dict(self.browser.costs)
        self.browser.costs.clear()
        return counts


def _sent(program: BenchVisitor, method: str, path: str, body: Mapping[str, object]) -> dict[str, str]:
    query = urlencode({"apikey": KEY, "apisecret": SECRET}, quote_via=quote)
    headers = {"Content-Type": "application/json"}
    found: dict[str, str] = json.loads(
        program.ask(method, f"{path}?{query}", json.dumps(body).encode(), headers).expect(200, 201).text or "{}"
    )
    return found
