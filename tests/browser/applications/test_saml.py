"""A service provider of SAML in Chromium, across processes: the client is the one of a configuration file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, Route

from app.identity.platform.saml.expectations import AcceptedAssertion, ExpectedResponse
from app.identity.platform.saml.metadata_reader import read_metadata
from app.identity.platform.saml.response_gate import accept_response
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.request_writer import AuthnRequestContents
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import HOW
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.processes.scenario import OLD

ENTITY, ACS = "https://wiki.example/saml", "https://wiki.example/acs"
CLIENT = {
    "app_name": "wiki",
    "issuer_url": ENTITY,
    "assertion_consumer_service": {"location": ACS},
    "attributes": {"mail": {"value": "Email"}},
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("saml")) as made:
        made.start()
        account = {"email": "ada@example.test", "password": OLD, "email_verified": True}
        made.state({"name": "acme", "saml_clients": [CLIENT], "accounts": [account]})
        eventually(made.knows_the_tenant, "the tenant is configured")
        yield made


class WikiVisit:
    """A browser at the service provider, which is not in the network: its pages are answered here."""

    def __init__(self, installation: Installation, page: Page) -> None:
        self.home, self.page, self.posted = installation.at("acme"), page, ""
        self.host = self.home.removeprefix("http://")
        self.port = installation.port
        page.route("https://wiki.example/**", self._answer)

    def _answer(self, route: Route) -> None:
        self.posted = route.request.post_data or ""
        route.fulfill(body="<!doctype html><title>Wiki</title>", content_type="text/html")

    def request(self, *, is_posted: bool) -> str:
        """Send the browser to sign in, and return the ID of the request."""
        url = f"{self.home}/service/saml/idp/login?appname=wiki"
        contents = AuthnRequestContents(issuer=ENTITY, destination=url, acs_url=ACS)
        request = request_writer.authn_request(contents, datetime.now(UTC))
        if is_posted:
            fields = message_bindings.posted_fields(request, None, "state")
            inputs = "".join(f"<input name={name} value={value}>" for name, value in fields.items())
            form = f"<!doctype html><form method=post action='{url}'>{inputs}<button>Go</button></form>"
            self.page.route("https://start.example/", lambda route: route.fulfill(body=form, content_type="text/html"))
            self.page.goto("https://start.example/")
            self.page.get_by_role("button").click()
        else:
            self.page.goto(message_bindings.redirect_url(request, url, None, "state"), wait_until="commit")
        return str(request.get("ID"))

    def sign_in(self) -> None:
        self.page.wait_for_url(f"{self.home}/login**")
        self.page.locator("[name=identifier]").fill("ada@example.test")
        self.page.locator("main [name=password]").fill(OLD)
        self.page.locator("main form:has([name=password]) button[type=submit]").last.click()

    def accepted(self, request_id: str, *, has_scripts: bool) -> AcceptedAssertion:
        """Return the assertion that arrives; without scripts, a button sends it."""
        if not has_scripts:
            self.page.locator(f"form[action='{ACS}'] button").click()
        self.page.wait_for_url(ACS)
        asked = Request(
            f"http://127.0.0.1:{self.port}/service/saml/idp/metadata?appName=wiki", headers={"Host": self.host}
        )
        with urlopen(asked) as answer:
            metadata = read_metadata(answer.read(), datetime.now(UTC))
        assert metadata.provider is not None
        fields = parse_qs(self.posted)
        assert fields["RelayState"] == ["state"]
        expected = ExpectedResponse(
            issuer=metadata.entity_id, keys=TrustedKeys(metadata.provider.signing_certificates), audience=ENTITY,
            acs_url=ACS, request_id=request_id,
        )  # fmt: skip
        return accept_response(fields["SAMLResponse"], expected, datetime.now(UTC))


@HOW
@pytest.mark.parametrize("is_posted", [False, True], ids=["redirect", "post"])
def test_person_signs_in_and_returns_at_once(
    installation: Installation, opened: Opened, how: dict[str, Any], is_posted: bool
) -> None:
    has_scripts = how.get("java_script_enabled", True)
    visit = WikiVisit(installation, opened(**how))
    request_id = visit.request(is_posted=is_posted)
    visit.sign_in()
    accepted = visit.accepted(request_id, has_scripts=has_scripts)
    assert accepted.attributes["mail"].values == ("ada@example.test",)
    again = visit.accepted(visit.request(is_posted=is_posted), has_scripts=has_scripts)
    assert again.name_id == accepted.name_id
