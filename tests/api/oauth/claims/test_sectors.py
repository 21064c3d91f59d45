"""The sector documents of configured applications, which list every redirect URI (OpenID Connect Registration section 5)."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.identity.platform.services import IdentityServices
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.tenants.configuration_files import applied, lines, planned
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

SHOP, SHOP_TOO, NEWS = "https://shop.example/cb", "https://shop.example/other", "https://news.example/cb"
PATH = "/v2/manage/oauth-clients"
WRONG = [
    (200, [SHOP], f"it lacks {NEWS}"),
    (200, {"redirect_uris": [SHOP, NEWS]}, "it has another value"),
    (404, [SHOP, NEWS], "HTTP 404"),
    (302, [SHOP, NEWS], "HTTP 302, a redirect to "),
    (200, [[SHOP], {"a": NEWS}], f"it lacks {SHOP}"),
]
NAMES = ["one missing", "object", "missing", "redirect", "odd entries"]


def publish(provider: FakeProvider, content: Any, status: int = 200) -> str:
    """Serve the document, and return its address."""
    provider.answers["/sector.json"] = (status, {"Location": SHOP}, json.dumps(content).encode())
    return f"{provider.url}/sector.json"


class TestManagedClients:
    """The OAuth clients of `/v2/manage/oauth-clients`."""

    @pytest.fixture
    def token(self, acme: TenantServer) -> str:
        return machine(acme, "client:create", "client:update", "client:read")

    def body(self, sector: str, **changed: Any) -> dict[str, Any]:
        return {"AppName": "Shop", "RedirectURIs": [SHOP, NEWS], "SectorIdentifierURI": sector, **changed}

    @pytest.mark.parametrize(("status", "content", "problem"), WRONG, ids=NAMES)
    def test_document_without_every_address_is_refused(
        self, acme: TenantServer, token: str, fake_provider: FakeProvider, status: int, content: Any, problem: str
    ) -> None:
        answer = ask(acme, token, "POST", PATH, self.body(publish(fake_provider, content, status)))
        assert refused(answer) == (400, 7900)
        assert problem in answer.text
        assert refused(ask(acme, token, "GET", f"{PATH}/Shop"))[0] == 404

    def test_document_is_fetched_only_for_what_is_new(
        self, acme: TenantServer, token: str, fake_provider: FakeProvider
    ) -> None:
        sector = publish(fake_provider, [SHOP, NEWS, SHOP_TOO])
        answered(ask(acme, token, "POST", PATH, self.body(sector)))
        publish(fake_provider, [], 503)
        same = {"SectorIdentifierURI": sector, "RedirectURIs": [NEWS, SHOP]}
        for change in ({"DisplayName": "The shop"}, same, {"RedirectURIs": [SHOP]}):
            answered(ask(acme, token, "PUT", f"{PATH}/Shop", change))
        assert fake_provider.requests_to("/sector.json") == 1
        more = {"RedirectURIs": [SHOP, SHOP_TOO]}
        assert refused(ask(acme, token, "PUT", f"{PATH}/Shop", more)) == (400, 7900)
        assert answered(ask(acme, token, "GET", f"{PATH}/Shop"))["RedirectURIs"] == [SHOP]

    @pytest.mark.both_databases
    def test_tenant_is_not_locked_during_the_fetch(
        self, acme: TenantServer, token: str, fake_provider: FakeProvider
    ) -> None:
        sector = publish(fake_provider, [SHOP, NEWS])
        fake_provider.answers_after = threading.Event()
        with ThreadPoolExecutor(1) as threads:
            slow = threads.submit(ask, acme, token, "POST", PATH, self.body(sector))
            answered(ask(acme, token, "POST", PATH, {"AppName": "Other", "RedirectURIs": [SHOP]}))
            assert not slow.done()
            fake_provider.answers_after.set()
            answered(slow.result())

    @pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "fd00::1"])
    def test_name_of_an_internal_address_is_not_asked(
        self,
        acme: TenantServer,
        token: str,
        fake_provider: FakeProvider,
        monkeypatch: pytest.MonkeyPatch,
        address: str,
    ) -> None:
        resolver = Resolver(resolve=lambda _host, port, **_: [(2, 1, 6, "", (address, port))])
        monkeypatch.setattr(acme.services, "provider_metadata", ProviderMetadataCache(acme.services.clock, resolver))
        port = urlsplit(publish(fake_provider, [SHOP, NEWS])).port
        answer = ask(acme, token, "POST", PATH, self.body(f"https://sector.example:{port}/sector.json"))
        assert refused(answer) == (400, 7900)
        assert "sector.example" in answer.text
        assert address not in answer.text
        assert fake_provider.received == []

    def test_unknown_client_is_not_found_without_a_fetch(
        self, acme: TenantServer, token: str, fake_provider: FakeProvider
    ) -> None:
        change = {"SectorIdentifierURI": publish(fake_provider, [SHOP])}
        assert refused(ask(acme, token, "PUT", f"{PATH}/Nothing", change)) == (404, 7981)
        assert fake_provider.requests_to("/sector.json") == 0


class TestConfigurationFiles:
    """The applications of `gatehouse apply`."""

    @pytest.fixture
    def ours(self, own_services: IdentityServices, fake_provider: FakeProvider) -> IdentityServices:
        """Services that reach the fake provider, whose address is of this machine."""
        assert fake_provider.url
        own_services.provider_metadata = ProviderMetadataCache(own_services.clock, Resolver(["127.0.0.0/8"]))
        return own_services

    def file(self, sector: str, uris: list[str], **changed: Any) -> str:
        app = {"name": "shop", "redirect_uris": uris, "sector_identifier_uri": sector, "subject_type": "pairwise"}
        return json.dumps({"tenants": [{"name": "acme", "applications": [{**app, **changed}]}]})

    @pytest.mark.parametrize(("status", "content", "problem"), WRONG, ids=NAMES)
    def test_document_without_every_address_is_refused(
        self, ours: IdentityServices, fake_provider: FakeProvider, status: int, content: Any, problem: str
    ) -> None:
        text = self.file(publish(fake_provider, content, status), [SHOP, NEWS])
        for run in (planned, applied):
            with pytest.raises(ConfigurationError) as caught:
                run(ours, text)
            assert "tenants[0].applications[0].sector_identifier_uri: expected" in str(caught.value)
            assert problem in str(caught.value)
        publish(fake_provider, [SHOP, NEWS])
        assert lines(applied(ours, text)) == [("tenant", "acme", "create"), ("application", "shop", "create")]

    def test_unreachable_document_matters_only_for_what_is_new(
        self, ours: IdentityServices, fake_provider: FakeProvider
    ) -> None:
        sector = publish(fake_provider, [SHOP, NEWS])
        applied(ours, self.file(sector, [SHOP, NEWS]))
        publish(fake_provider, [], 503)
        changed = applied(ours, self.file(sector, [NEWS, SHOP], client_name="Shop"))
        assert lines(changed)[1] == ("application", "shop", "change")
        applied(ours, self.file(sector, [SHOP]))
        with pytest.raises(ConfigurationError, match="HTTP 503"):
            applied(ours, self.file(sector, [SHOP, SHOP_TOO]))

    def test_same_document_of_several_applications_is_fetched_once(
        self, ours: IdentityServices, fake_provider: FakeProvider
    ) -> None:
        sector = publish(fake_provider, [SHOP, NEWS])
        item = json.loads(self.file(sector, [SHOP, NEWS]))
        (app,) = item["tenants"][0]["applications"]
        item["tenants"][0]["applications"] = [{**app, "name": f"shop{number}"} for number in range(5)]
        applied(ours, json.dumps(item))
        assert fake_provider.requests_to("/sector.json") == 1
