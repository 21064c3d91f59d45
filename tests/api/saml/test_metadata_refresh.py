"""The metadata of SAML connections is read again on a schedule, and no key is replaced at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app.identity.assembly.metadata_schedule import MetadataSchedule
from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.saml import metadata_refresh
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    provider_certificates,
    provider_metadata,
)
from app.identity.directory.organizations.connections.provider_metadata import MetadataUnusable
from app.identity.directory.organizations.tables import organization_connections
from app.identity.platform import audit
from app.identity.platform.outbound import outbound_http
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.outbound.host_resolver import Resolver
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.saml import signers
from tests.support.saml.metadata import ENTITY, key_descriptor, metadata
from tests.support.saml.metadata_server import ServedMetadata, serving
from tests.support.saml.responses import Change, attribute
from tests.support.saml.signers import Signer
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

C = organization_connections.c


@dataclass
class Refreshed:
    """A connection that reads its metadata from a server of this test."""

    business: Business
    served: ServedMetadata
    id: str

    @property
    def path(self) -> str:
        return f"{PATH}/{self.business.org}/connections/{self.id}"

    def read(self) -> dict[str, Any]:
        return answered(self.business.send("GET", self.path))

    def trusted(self) -> list[tuple[str, bool]]:
        """Return the trusted certificates, and whether each will end."""
        return [(one["Certificate"], one["TrustedUntil"] is not None) for one in self.read()["IDPCertificates"]]

    def make_due(self) -> None:
        with call_of(self.business.tenant.services, self.business.tenant.name) as context:
            where = (C.tenant_id == context.tenant.tenant_id, C.connection_id == self.id)
            context.work.run(update(organization_connections).where(*where).values(metadata_due_at=context.now))
            context.work.commit()

    def refresh(self) -> int:
        """Let a worker of its own read what is due. Return how often the server was asked."""
        self.make_due()
        before = self.served.count
        self.work()
        return self.served.count - before

    def work(self) -> None:
        """Let a worker of its own look at this tenant."""
        services = self.business.tenant.services
        with call_of(services, self.business.tenant.name) as context:
            work = UnitOfWork(services.database, context.tenant.tenant_id)
        metadata_refresh.refresh_tenant(lambda: services, work, services.clock.now())

    def audited(self) -> list[dict[str, Any]]:
        with call_of(self.business.tenant.services, self.business.tenant.name) as context:
            rows = audit.latest(context.work, 50)
        return [row.facts for row in rows if row.event == "organization.connection_metadata_changed"]

    def failures(self) -> list[str]:
        with call_of(self.business.tenant.services, self.business.tenant.name) as context:
            return [trace.failed_check for trace in connection_traces.latest(context.work, context.now, 10)]


def served_by(*people: Signer, change: Change = lambda _: None, signer: Signer | None = None) -> bytes:
    keys = "".join(key_descriptor(one.certificate) for one in people)
    return metadata(keys=keys, change=change, signer=signer)


def pem_of(signer: Signer) -> str:
    return signer.certificate


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def served() -> Iterator[ServedMetadata]:
    with serving(served_by(signers.rsa_signer())) as found:
        yield found


def connected(business: Business, served: ServedMetadata, **members: Any) -> Refreshed:
    body = {"Name": "okta", "ConnectionType": "saml_okta", "IDPMetadataUrl": served.url, **members}
    return Refreshed(
        business, served, answered(business.send("POST", f"{PATH}/{business.org}/connections", body))["Id"]
    )


@pytest.fixture
def connection(business: Business, served: ServedMetadata) -> Refreshed:
    return connected(business, served)


@pytest.mark.both_databases
def test_new_key_is_trusted_beside_the_former_one(connection: Refreshed) -> None:
    old, new = signers.rsa_signer(), signers.rsa_signer("next")
    connection.served.content = served_by(new)
    assert connection.refresh() == 1
    assert connection.trusted() == [(pem_of(new), False), (pem_of(old), True)]
    assert connection.read()["IDPCertificate"]["Certificate"] == pem_of(new)
    facts = connection.audited()[0]
    assert len(facts["new_certificates"]) == 1
    assert facts["removed_certificates"] == []


def test_former_key_ends_with_the_overlap(connection: Refreshed) -> None:
    connection.served.content = served_by(signers.rsa_signer("next"))
    connection.refresh()
    with call_of(connection.business.tenant.services, connection.business.tenant.name) as context:
        found = organization_connection_store.by_id(context, connection.business.org, connection.id)
        assert found is not None
        ends = context.now + provider_certificates.OVERLAP
        assert len(provider_certificates.of_content(found.content, ends - timedelta(hours=1))) == 2
        assert len(provider_certificates.of_content(found.content, ends + timedelta(hours=1))) == 1


def test_unchanged_metadata_changes_nothing(connection: Refreshed) -> None:
    before = connection.read()
    assert connection.refresh() == 1
    assert connection.read() == before
    assert (connection.audited(), connection.failures()) == ([], [])


def test_key_that_comes_back_is_trusted_without_end(connection: Refreshed) -> None:
    old, new = signers.rsa_signer(), signers.rsa_signer("next")
    connection.served.content = served_by(new)
    connection.refresh()
    connection.served.content = served_by(new, old)
    connection.refresh()
    assert connection.trusted() == [(pem_of(new), False), (pem_of(old), False)]


HOSTILE = {
    "another entity": served_by(
        signers.rsa_signer("thief"), change=attribute("*", "entityID", "https://thief.example")
    ),
    "no key": served_by(),
    "huge": served_by(signers.rsa_signer("thief")) + b" " * (2 << 20),
    "no metadata": b"<html>",
    "doctype": b"<!DOCTYPE x>" + served_by(signers.rsa_signer("thief")),
    "expired": served_by(signers.rsa_signer("thief"), change=attribute("*", "validUntil", "2020-01-01T00:00:00Z")),
    "insecure": served_by(
        signers.rsa_signer("thief"), change=attribute("SingleSignOnService", "Location", "http://x.example")
    ).replace(b"https://idp.example/sso", b"http://idp.example/sso"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_metadata_replaces_no_key(connection: Refreshed, name: str) -> None:
    before = connection.read()
    connection.served.content = HOSTILE[name]
    assert connection.refresh() == 1
    assert connection.read() == before
    assert connection.failures() == ["saml_metadata"]
    assert connection.audited() == []


def test_server_that_fails_is_asked_again_within_an_hour(connection: Refreshed) -> None:
    connection.served.status = 500
    connection.refresh()
    with call_of(connection.business.tenant.services, connection.business.tenant.name) as context:
        in_an_hour = context.now + timedelta(minutes=61)
        due = organization_connection_store.ids_with_due_metadata(context.work, in_an_hour, 5)
        assert due == [connection.id]


def test_pinned_key_changes_only_by_its_signature(business: Business, served: ServedMetadata) -> None:
    old, new = signers.rsa_signer(), signers.rsa_signer("next")
    with serving(served_by(old, signer=None)) as own:
        body = {"IDPCertificate": pem_of(_valid_now())}
        connection = connected(business, own, **body)
        own.content = served_by(new)
        connection.refresh()
        assert connection.failures() == ["saml_metadata"]
        assert [pem for pem, _ in connection.trusted()] == [pem_of(_valid_now())]
        own.content = served_by(new, signer=_valid_now())
        connection.refresh()
        assert [pem for pem, _ in connection.trusted()] == [pem_of(new), pem_of(_valid_now())]


def _valid_now() -> Signer:
    return signers.rsa_signer("pinned", from_days=-3_000, to_days=3_000)


def test_one_of_two_workers_reads_the_metadata(connection: Refreshed) -> None:
    connection.refresh()
    count = connection.served.count
    connection.work()
    assert connection.served.count == count


@pytest.mark.database_alone
def test_worker_visits_every_tenant(connection: Refreshed) -> None:
    connection.make_due()
    services = connection.business.tenant.services
    assert MetadataSchedule(services.database, lambda: services).turn(services.clock.now()) == 1


def test_inactive_connection_reads_no_metadata(connection: Refreshed) -> None:
    answered(connection.business.send("PUT", f"{connection.path}/status", {"Active": False}))
    assert connection.refresh() == 0


def test_metadata_is_read_without_a_database_connection(connection: Refreshed, monkeypatch: pytest.MonkeyPatch) -> None:
    database = connection.business.tenant.services.database
    held: list[int] = []
    real = outbound_http.get_content

    def watched(resolver: Resolver, *arguments: Any, **options: Any) -> bytes:
        held.append(database.engine.pool.checkedout() - len(database.idle._idle))  # type: ignore[attr-defined]  # the pool's own count
        return real(resolver, *arguments, **options)

    monkeypatch.setattr(outbound_http, "get_content", watched)
    connection.refresh()
    assert held == [0]


FORMS = {
    "pem": pem_of(signers.rsa_signer()),
    "two": pem_of(signers.rsa_signer()) + pem_of(signers.rsa_signer("next")),
    "bare": "".join(pem_of(signers.rsa_signer()).splitlines()[1:-1]),
    "crlf": pem_of(signers.rsa_signer()).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_certificates_are_read_in_each_form(business: Business, name: str) -> None:
    body = {"Name": "okta", "ConnectionType": "saml_okta", "IDPEntityId": ENTITY, "IDPCertificate": FORMS[name]}
    made = answered(business.send("POST", f"{PATH}/{business.org}/connections", body))
    expected = [pem_of(signers.rsa_signer()), *([pem_of(signers.rsa_signer("next"))] if name == "two" else [])]
    assert [one["Certificate"] for one in made["IDPCertificates"]] == expected


def test_metadata_is_never_read_from_an_inward_address() -> None:
    inward = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.8", 443))]
    resolver = Resolver(resolve=lambda *_, **__: inward)
    with pytest.raises(MetadataUnusable):
        provider_metadata.fetch(resolver, "https://idp.example/metadata", signers.NOW)


def test_metadata_of_another_entity_is_refused_at_once(business: Business, served: ServedMetadata) -> None:
    body = {
        "Name": "a",
        "ConnectionType": "saml_okta",
        "IDPMetadataUrl": served.url,
        "IDPEntityId": "https://x.example",
    }
    assert refused(business.send("POST", f"{PATH}/{business.org}/connections", body)) == (400, 7900)
