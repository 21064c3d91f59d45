"""SimpleSAMLphp is the identity provider of an organization, in Chromium: sign-in, attributes and single logout both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.processes.commands import this_version
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.saml.peers.simplesamlphp import NAME, PASSWORD, SimpleSamlPhp, simplesamlphp
from tests.support.services.servers import NO_AUTHORITIES

ORGANIZATIONS = "/v2/manage/organizations"
BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-"
BINDINGS = pytest.mark.parametrize("binding", [f"{BINDING}Redirect", f"{BINDING}POST"], ids=["redirect", "post"])


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("simplesamlphp")) as made:
        made.start()
        made.tenant()
        eventually(made.knows_the_tenant, "the tenant is configured")
        yield made


class Globex:
    """An organization of the tenant that the provider signs in."""

    def __init__(self, installation: Installation, provider: SimpleSamlPhp, **members: Any) -> None:
        self.installation, self.provider = installation, provider
        self.home = installation.at("acme")
        domains = [{"DomainName": provider.domain, "IsVerified": True}]
        org = self._stored("POST", "", {"Name": f"Globex {provider.port}"})["Id"]
        self._stored("PUT", f"/{org}", {"Domains": domains})
        body = {"Name": "saml", "ConnectionType": "saml_custom", "IDPMetadataUrl": provider.metadata_url, **members}
        self.connection = self._stored("POST", f"/{org}/connections", body)
        self._stored("PUT", f"/{org}/policy", {"JITPolicy": {"Enabled": True}})
        provider.trust(self._metadata())

    def _stored(self, method: str, path: str, body: dict[str, Any]) -> Any:
        answer = self.installation.send(method, f"{ORGANIZATIONS}{path}", body, with_secret=True)
        assert answer.is_success, answer.text
        return answer.json()

    def _metadata(self) -> bytes:
        address = self.connection["MetadataUrl"].replace(self.home, f"http://127.0.0.1:{self.installation.port}")
        answer = httpx.get(address, headers={"Host": self.home.removeprefix("http://")}, verify=NO_AUTHORITIES)
        assert answer.is_success
        return answer.content

    def give_password(self, page: Page, start: str = "") -> None:
        """Begin at the connection's own address, or another one, and type the password at the provider."""
        page.goto(start or self.connection["EntityId"])
        page.locator("[name=username]").fill(NAME)
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("[name=password]").press("Enter")

    def sign_in(self, page: Page) -> None:
        self.give_password(page)
        page.wait_for_url(f"{self.home}/profile**")
        expect(page.get_by_text("Mina Härker").first).to_be_visible()
        expect(page.get_by_text(self.provider.email).first).to_be_visible()

    @property
    def start_at_provider(self) -> str:
        """The address at which the provider begins a sign-in here."""
        return f"{self.provider.url}/saml2/idp/SSOService.php?{urlencode({'spentityid': self.connection['EntityId']})}"

    def is_signed_out(self, page: Page) -> bool:
        page.goto(f"{self.home}/profile")
        return "/login" in page.url

    def expect_password(self, page: Page) -> None:
        """Begin once more: the provider asks for the password only if its own session has ended."""
        page.goto(self.connection["EntityId"])
        expect(page.locator("[name=password]")).to_be_visible()


@BINDINGS
def test_simplesamlphp_signs_in_and_out(installation: Installation, opened: Opened, binding: str) -> None:
    with simplesamlphp(binding) as provider:
        globex, page = Globex(installation, provider), opened()
        globex.sign_in(page)
        page.goto(f"{globex.home}/logout")
        with page.expect_response(lambda answer: answer.url.startswith(f"{globex.connection['EntityId']}/logout")):
            page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("signed out")
        assert page.url.startswith(globex.home)
        assert globex.is_signed_out(page)
        globex.expect_password(page)


@BINDINGS
def test_sign_out_at_simplesamlphp_ends_the_session(installation: Installation, opened: Opened, binding: str) -> None:
    with simplesamlphp(binding) as provider:
        globex, page = Globex(installation, provider), opened()
        globex.sign_in(page)
        page.goto(provider.sign_out_url)
        page.wait_for_url(f"{provider.url}/logout.php**")
        assert globex.is_signed_out(page)


def test_sign_in_begun_at_simplesamlphp_is_confirmed(installation: Installation, opened: Opened) -> None:
    with simplesamlphp(f"{BINDING}Redirect") as provider:
        globex, page = Globex(installation, provider, IsIDPInitiated=True), opened()
        globex.give_password(page, globex.start_at_provider)
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in?")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text("Mina Härker").first).to_be_visible()


def test_sign_in_begun_at_simplesamlphp_is_off_by_default(installation: Installation, opened: Opened) -> None:
    with simplesamlphp(f"{BINDING}Redirect") as provider:
        globex, page = Globex(installation, provider), opened()
        globex.give_password(page, globex.start_at_provider)
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in didn’t finish")
        assert globex.is_signed_out(page)


def test_answer_encrypted_by_cbc_is_refused_and_explained(
    installation: Installation, opened: Opened, tmp_path: Path
) -> None:
    """Version 1 encrypts by AES-CBC alone, whose content anybody can change where the response around it isn’t signed."""
    with simplesamlphp(f"{BINDING}Redirect", encrypts=True) as provider:
        page = opened()
        Globex(installation, provider).give_password(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in didn’t finish")
        reference = re.findall(r"\b(?:[A-Z]{4}-){2}[A-Z]{4}\b", page.inner_text("body"))[0]
        this_version().run(installation.environ, "why", "acme", reference, log=tmp_path / "explained")
        explained = (tmp_path / "explained").read_text()
        assert "aes128-cbc" in explained
        assert "by AES-GCM with RSA-OAEP, or turn encryption off" in explained
