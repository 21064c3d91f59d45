"""Two requests for metadata or keys in a row, in every order: the second has the answer that it has alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from werkzeug.test import Client

from app.identity.protocols.oauth.endpoints import metadata
from app.kit.operations.server import OperationServer
from tests.api.oauth.metadata.test_cache import PATHS
from tests.support.oauth.world import NewWorld

ALL_PATHS = (*PATHS, "/service/oidc/Shop/.well-known/openid-configuration")
ORIGIN = "https://page.example"
HEADERS: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "registered origin": {"Origin": ORIGIN},
    "other origin": {"Origin": "https://evil.example"},
    "token": {"Authorization": "Bearer x"},
    "foreign key": {"X-Acme-ApiKey": "11111111-1111-4111-8111-111111111111"},
    "forwarded": {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"},
    "language": {"Accept-Language": "de", "Accept": "text/html", "Accept-Encoding": "gzip"},
    "body": {"Content-Length": "0"},
}


@dataclass
class DocumentRequest:
    """A request for a document."""

    base_url: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    method: str = "GET"

    def send(self, app: OperationServer) -> tuple[int, list[tuple[str, str]], bytes]:
        answer = Client(app).open(
            self.path,
            method=self.method,
            base_url=self.base_url,
            headers=dict(self.headers),
            query_string=self.query,
        )
        headers = [header for header in answer.headers if header[0] not in ("X-Gatehouse-Cost", "Content-Length")]
        return answer.status_code, sorted(headers), answer.data


def requests_at(homes: Mapping[str, str]) -> dict[str, DocumentRequest]:
    """Return requests at the hosts of several tenants."""
    found = {}
    for path in ALL_PATHS:
        for host, home in homes.items():
            found[f"{path} at {host}"] = DocumentRequest(home, path)
            found[f"{path} at {host}, TLS"] = DocumentRequest(home.replace("http:", "https:"), path)
        own = homes["own"]
        found |= {f"{path}, {name}": DocumentRequest(own, path, headers) for name, headers in HEADERS.items()}
        found[f"{path}, query"] = DocumentRequest(own, path, query="apikey=11111111-1111-4111-8111-111111111111")
        found[f"{path}, HEAD"] = DocumentRequest(own, path, method="HEAD")
    return found


def test_second_document_is_the_one_that_it_is_alone(
    new_world: NewWorld, identity_app: OperationServer, subtests: pytest.Subtests
) -> None:
    open_one = {"client_registration": {"mode": "open"}, "session_management": True}
    world, other = new_world(), new_world(**open_one)
    for item in (world, other):
        item.application("Shop", cors_origins=[ORIGIN])
    settings = world.services.settings
    own, foreign = settings.hub_url(world.name), settings.hub_url(other.name)
    homes = {"own": own, "another tenant": foreign, "custom domain": settings.custom_url(world.add_custom_domain())}
    requests = requests_at(
        {**homes, "unknown tenant": settings.hub_url("unknown-tenant"), "the API": settings.base_url}
    )

    def empty() -> None:
        identity_app.cached_responses.clear()
        metadata._bytes.cache_clear()

    alone = {}
    for name, request in requests.items():
        empty()
        alone[name] = request.send(identity_app)
    assert len({alone[f"{ALL_PATHS[-1]} at {host}"][2] for host in homes}) == len(homes), "they do differ"
    for first, request in requests.items():
        with subtests.test(f"after {first}"):
            empty()
            for _ in range(2):
                request.send(identity_app)
            assert [name for name, element in requests.items() if element.send(identity_app) != alone[name]] == []
