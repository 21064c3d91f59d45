"""The tenant that `examples/conformance.yaml` describes for the conformance suite, on a fresh service, as the suite uses it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import yaml
from werkzeug.test import Client as WsgiClient

from app.contract.steps import ConsentStep
from app.identity import create_app, create_service
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.platform.services import IdentityServices
from app.kit.package_files import HOME
from tests.support.oauth.client_certificates import certificate
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Browser, Pkce, RelyingParty, claims_in, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.visitors.answered_step import AnsweredStep
from tests.support.visitors.plain_client import PlainClient
from tools import conformance

FILE = HOME / "examples" / "conformance.yaml"
DUMMY = "?dummy1=lorem&dummy2=ipsum"
CHANNELS = {"backchannel_logout_uri", "frontchannel_logout_uri"}


def tenant_of_file() -> Mapping[str, Any]:
    """Return the tenant of the file with the suite's host, and with keys that the tests have."""
    tenant: dict[str, Any] = yaml.safe_load(FILE.read_text().replace("SUITE", "suite.example"))["tenants"][0]
    for item in tenant["applications"]:
        if "jwks" in item:
            item["jwks"] = public_jwks(client_key("ES256", item["client_id"]))
    return tenant


APPLICATIONS: Mapping[str, Mapping[str, Any]] = {item["client_id"]: item for item in tenant_of_file()["applications"]}
PROFILED = [name for name, application in APPLICATIONS.items() if application.get("security_profile") == "fapi2"]


@dataclass
class Suite:
    """The suite's clients at the applied tenant."""

    services: IdentityServices
    wsgi: WsgiClient

    def browser(self, email: str) -> Browser:
        """Return a browser without cookies, signed in with a password of the file."""
        browser = Browser(self.services, self.wsgi, "conformance")
        password = next(item["password"] for item in tenant_of_file()["accounts"] if item["email"] == email)
        browser.sign_in(None, email, password)
        return browser

    def client(self, name: str, suffix: str = "") -> RelyingParty:
        known = APPLICATIONS[name]
        uri = next(application for application in known["redirect_uris"] if application.endswith(f"callback{suffix}"))
        secret = known.get("client_secret")
        return RelyingParty(self.services, self.wsgi, "conformance", "", name, uri, name, secret)

    def push(self, client: RelyingParty, pkce: Pkce, prover: Prover) -> dict[str, str | None]:
        """Push the request of a client of FAPI 2.0, as its settings demand."""
        known, signer = APPLICATIONS[client.client_id], Signer(client, key=client_key("ES256", client.client_id))
        mode = (known.get("response_modes") or [None])[0]
        parameters = {**client.authorization_parameters(response_mode=mode), "code_challenge": pkce.challenge}
        if known.get("require_signed_request_object"):
            parameters = {"request": signer.request_object(**parameters)}
        answer = self.post("par", client, parameters, prover)
        assert answer.status_code == 201, answer.text
        return {"client_id": client.client_id, "request_uri": (answer.json or {})["request_uri"]}

    def post(self, what: str, client: RelyingParty, form: Mapping[str, Any], prover: Prover) -> Any:
        known = APPLICATIONS[client.client_id]
        signer = Signer(client, key=client_key("ES256", client.client_id))
        own = signer.assertion() if known["token_endpoint_auth_method"] == "private_key_jwt" else {}
        bound = known.get("dpop_bound_access_tokens", False)
        headers = {"DPoP": prover.dpop_proof("POST", f"{client.hub_url}/api/oidc/{what}")} if bound else {}
        environ = certificate(f"CN={client.client_id}").environ()
        sent = {"client_id": client.client_id, **own, **form}
        return client.back(what, sent, headers=headers, environ_overrides=environ)


@pytest.fixture
def suite(own_services: IdentityServices) -> Suite:
    own_services.settings = replace(
        own_services.settings,
        client_certificate_header="X-SSL-Client-Cert",
        client_verification_header="X-SSL-Client-Verify",
        trusted_proxies=("10.0.0.1",),
    )
    text = json.dumps({"tenants": [tenant_of_file()]}).encode()
    apply_configuration.apply(own_services, read(text, FILE.name, FILE.parent), prune=False)
    return Suite(own_services, PlainClient(create_app(create_service(own_services))))


def read_response(step: AnsweredStep) -> dict[str, str]:
    """Return the parameters of a response, also of a JWT response."""
    stored = parameters_of(step)
    return (
        {name: str(value) for name, value in claims_in(stored["response"]).items()} if "response" in stored else stored
    )


def test_tenant_of_the_suite_applies_to_a_fresh_service(own_services: IdentityServices) -> None:
    file = read(FILE.read_bytes().replace(b"SUITE", b"suite.example"), FILE.name, FILE.parent)
    first, again = (apply_configuration.apply(own_services, file, prune=False) for _ in range(2))
    assert {str(change.action) for change in first.changes} == {"create"}
    assert {str(change.action) for change in again.changes} <= {"unchanged"}


def test_page_and_file_name_the_same_clients() -> None:
    named = set(re.findall(r"`(suite-[a-z-]+)`", conformance.INTRODUCTION))
    assert named == set(re.findall(r"client_id: (suite-[a-z-]+)", FILE.read_text()))


def test_page_names_the_accounts_of_the_file() -> None:
    named = re.findall(r"`([a-z]+@example\.com)`", conformance.INTRODUCTION)
    assert set(named) == {item["email"] for item in tenant_of_file()["accounts"]}


def test_each_channel_is_on_a_client_of_its_own() -> None:
    """A module of another plan fails at a logout token or a frame that it does not expect."""
    having = {
        name: CHANNELS & application.keys()
        for name, application in APPLICATIONS.items()
        if CHANNELS & application.keys()
    }
    assert having == {
        "suite-backchannel": {"backchannel_logout_uri"},
        "suite-frontchannel": {"frontchannel_logout_uri"},
    }


def test_second_clients_have_the_dummy_redirect_uris() -> None:
    """`AbstractFAPI2SPFinalMultipleClient` of the suite uses them."""
    having = {
        name
        for name, application in APPLICATIONS.items()
        if any(uri.endswith(DUMMY) for uri in application["redirect_uris"])
    }
    assert having == {name for name in PROFILED if name.endswith("-second")}


def test_profiles_of_message_signing_are_all_there() -> None:
    signed = [application for application in APPLICATIONS.values() if application.get("require_signed_request_object")]
    profiles = {
        (application["token_endpoint_auth_method"], application.get("dpop_bound_access_tokens", False))
        for application in signed
    }
    assert len(signed) == 8
    assert profiles == {(method, bound) for method in ("private_key_jwt", "tls_client_auth") for bound in (True, False)}


def test_birthdate_is_one_that_the_suite_accepts(suite: Suite) -> None:
    """Its `AbstractValidateOpenIdStandardClaims` takes years from 1850 on."""
    client, browser = suite.client("suite-basic"), suite.browser("ada@example.com")
    step = browser.authorize(client.authorization_parameters())
    basic = b64encode(f"{client.client_id}:{client.secret}".encode()).decode()
    values = {
        "grant_type": "authorization_code",
        "code": parameters_of(step)["code"],
        "redirect_uri": client.redirect_uri,
    }
    stored = client.back("token", values, headers={"Authorization": f"Basic {basic}"})
    token = (stored.json or {})["access_token"]
    assert (client.userinfo(token).json or {})["birthdate"] == "1990-12-10"


@pytest.mark.parametrize("name", PROFILED)
def test_fapi_clients_of_the_file_get_tokens(suite: Suite, name: str) -> None:
    browser = suite.browser("ada@example.com")
    for suffix in ("", DUMMY) if name.endswith("-second") else ("",):
        client = suite.client(name, suffix)
        pkce, prover = Pkce(), Prover(client)
        step = browser.authorize(suite.push(client, pkce, prover))
        step = browser.consent(step.interaction_id or "", allow=True) if step.kind is ConsentStep else step
        response = read_response(step)
        assert ("dummy1=lorem&dummy2=ipsum" in (step.address or "")) is bool(suffix)
        values = {"grant_type": "authorization_code", "code": response["code"], "redirect_uri": client.redirect_uri}
        stored = suite.post("token", client, {**values, "code_verifier": pkce.verifier}, prover)
        assert stored.status_code == 200, stored.text


def test_person_can_refuse_the_fapi_clients(suite: Suite, subtests: pytest.Subtests) -> None:
    """The module of the suite for this needs a page, for the first client and then for the second."""
    browser = suite.browser("grace@example.com")
    for name in PROFILED:
        with subtests.test(name):
            client = suite.client(name, DUMMY if name.endswith("-second") else "")
            for _ in range(2):
                step = browser.authorize(suite.push(client, Pkce(), Prover(client)))
                assert step.kind is ConsentStep
                assert (
                    read_response(browser.consent(step.interaction_id or "", allow=False))["error"] == "access_denied"
                )
