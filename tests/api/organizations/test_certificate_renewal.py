"""A link that renews the certificates of one SAML connection: it adds what can be used, and can do nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import AddRenewedCertificate, SetupDomain, SetupSession, SetupToken
from app.kit.operations.errors import ApiError
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.connected_organization import business_of
from tests.support.organizations.connections import OIDC
from tests.support.organizations.management import PATH
from tests.support.organizations.renewals import SHA1_CERTIFICATE, RenewalLink, fingerprint, fresh_certificate
from tests.support.organizations.saml_setup_guides import provider_metadata
from tests.support.races import at_once
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import answered, refused


@pytest.fixture
def renewal(world: World, identity_app: Flask) -> RenewalLink:
    return RenewalLink(world, business_of(world, identity_app), identity_app)


def bare(pem: str) -> str:
    return "".join(pem.splitlines()[1:-1])


def reason(renewal: RenewalLink, session: str, pasted: str) -> str:
    """Return why a certificate is refused; empty if it is added."""
    try:
        renewal.add(session, pasted)
    except errors.SetupEntryRefused as refusal:
        ((field, why),) = refusal.problems or ()
        assert field == "certificate"
        return why
    return ""


def test_link_is_for_an_active_saml_connection(renewal: RenewalLink, new_world: NewWorld, identity_app: Flask) -> None:
    business, path = renewal.business, f"{PATH}/{renewal.org}/setup-links"
    other = business.create("Initech")
    elsewhere = new_world()
    foreign = RenewalLink(elsewhere, business_of(elsewhere, identity_app), identity_app)
    openid = answered(business.send("POST", f"{PATH}/{renewal.org}/connections", OIDC))
    for connection_id in (openid["Id"], foreign.connection["Id"], "globex-sso", "", "x", "x" * 65):
        assert refused(business.send("POST", path, {"ConnectionId": connection_id})) == (400, 7900), connection_id
    body = {"ConnectionId": renewal.connection["Id"]}
    assert refused(business.send("POST", f"{PATH}/{other}/setup-links", body)) == (400, 7900)
    answered(business.send("PUT", f"{renewal.connection_path}/status", {"Active": False}))
    assert refused(business.send("POST", path, body)) == (400, 7900)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "form", [str, bare, partial(provider_metadata), lambda pem: f"\r\n{pem}\r\n"], ids=["pem", "base64", "xml", "crlf"]
)
def test_certificate_is_trusted_beside_the_present_one(renewal: RenewalLink, form: Callable[[str], str]) -> None:
    session = renewal.session()
    added = fresh_certificate()
    renewal.add(session, form(added))
    assert set(renewal.trusted()) == {fingerprint(renewal.present), fingerprint(added)}
    shown = renewal.read(session)
    assert [one.fingerprint for one in shown.certificates] == [fingerprint(added), fingerprint(renewal.present)]
    assert (shown.organization, shown.connection) == ("Globex Gardens", "globex-sso")
    ((_, facts),) = entries_of(renewal.business.tenant, "organization.connection_certificate_added")
    assert facts["act"] == f"setup link {renewal.link['Id']}"
    assert facts["new_certificates"] == [fingerprint(added)]
    assert facts["connection_id"] == renewal.connection["Id"]


def test_unusable_certificate_is_refused_with_its_reason(renewal: RenewalLink, subtests: pytest.Subtests) -> None:
    fresh, ca = fresh_certificate(), "https://idp.initech.example/saml"
    cases = {
        "": "missing", " \n": "missing", "no certificate": "unreadable", bare(fresh)[:-40]: "unreadable", "AAAA": "unreadable",
        "<a/>": "unreadable", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>': "unreadable", "<" * 40_000: "unreadable",
        "A" * 40_000: "unreadable", fresh_certificate("old", -100): "expired", fresh_certificate("weak", bits=1_024): "weak",
        SHA1_CERTIFICATE: "weak", renewal.present: "known", bare(renewal.present): "known",
        provider_metadata(renewal.present): "known", provider_metadata(fresh, entity=ca): "foreign",
        "".join(fresh_certificate(f"many {number}") for number in range(8)): "many",
    }  # fmt: skip
    for pasted, expected in cases.items():
        with subtests.test(expected, pasted=pasted[:40]):
            renewal_session = renewal.session(renewal.new_link(ConnectionId=renewal.connection["Id"], MaxOpenings=1))
            assert reason(renewal, renewal_session, pasted) == expected
    assert renewal.trusted() == [fingerprint(renewal.present)]
    assert entries_of(renewal.business.tenant, "organization.connection_certificate_added") == []


def test_huge_paste_is_refused(renewal: RenewalLink) -> None:
    huge = AddRenewedCertificate.model_construct(session=renewal.session(), certificate="A" * 40_001)
    with pytest.raises(ApiError) as refusal:
        renewal.call(setup_operations.add_certificate, huge)
    assert refusal.value.status < 500
    assert renewal.trusted() == [fingerprint(renewal.present)]


def test_metadata_changes_nothing_but_certificates(renewal: RenewalLink) -> None:
    before = answered(renewal.business.send("GET", renewal.connection_path))
    renewal.add(renewal.session(), provider_metadata(fresh_certificate(), sign_in="https://evil.example/sso"))
    after = answered(renewal.business.send("GET", renewal.connection_path))
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"IDPCertificates", "ModifiedDate"}


def test_one_link_tries_a_limited_number(renewal: RenewalLink) -> None:
    session = renewal.session()
    for _ in range(30):
        assert reason(renewal, session, "AAAA") == "unreadable"
    with pytest.raises(errors.TooManyRequests):
        renewal.add(session, fresh_certificate())


@pytest.mark.both_databases
def test_certificates_added_at_once_are_all_trusted(renewal: RenewalLink) -> None:
    session = renewal.session()
    fresh = [fresh_certificate(f"many {number}") for number in range(4)]
    at_once([partial(renewal.add, session, pem) for pem in fresh])
    assert set(renewal.trusted()) == {fingerprint(pem) for pem in [renewal.present, *fresh]}


GUIDE: list[Any] = [
    (setup_operations.add_domain, {"domain": "globex.example"}),
    (setup_operations.choose_product, {"product": "saml"}),
    (setup_operations.save_entries, {"issuer": "https://idp.example"}),
    (setup_operations.save_mapping, {"attributes": {"ID": "sub"}}),
    (setup_operations.activate, {}),
]


@pytest.mark.parametrize(("operation", "members"), GUIDE, ids=lambda value: getattr(value, "name", ""))
def test_renewal_session_does_nothing_of_the_guide(renewal: RenewalLink, operation: Any, members: Any) -> None:
    request = operation.request(session=renewal.session(), **members)
    with pytest.raises(errors.SetupSessionOver):
        renewal.call(operation, request)


def test_guide_session_renews_nothing(renewal: RenewalLink) -> None:
    session = renewal.session(renewal.new_link())
    with pytest.raises(errors.SetupSessionOver):
        renewal.read(session)
    with pytest.raises(errors.SetupSessionOver):
        renewal.add(session, fresh_certificate())
    read = renewal.call(setup_operations.read_guide, SetupSession(session=session))
    assert not read.renews
    renewal.call(setup_operations.add_domain, SetupDomain(session=session, domain="globex.example"))


def test_connection_that_is_gone_ends_the_renewal(renewal: RenewalLink) -> None:
    session = renewal.session()
    answered(renewal.business.send("PUT", f"{renewal.connection_path}/status", {"Active": False}))
    with pytest.raises(errors.SetupSessionOver):
        renewal.read(session)
    with pytest.raises(errors.SetupSessionOver):
        renewal.add(session, fresh_certificate())
    answered(renewal.business.send("PUT", f"{renewal.connection_path}/status", {"Active": True}))
    renewal.add(session, fresh_certificate())
    answered(renewal.business.send("DELETE", renewal.connection_path))
    for call in (renewal.read, partial(renewal.add, pasted=fresh_certificate("later"))):
        with pytest.raises(errors.SetupSessionOver):
            call(session)


def test_revoked_or_expired_link_renews_nothing(renewal: RenewalLink) -> None:
    session = renewal.session()
    answered(renewal.business.send("DELETE", f"{PATH}/{renewal.org}/setup-links/{renewal.link['Id']}"))
    with pytest.raises(errors.SetupSessionOver):
        renewal.add(session, fresh_certificate())
    later = renewal.new_link(ConnectionId=renewal.connection["Id"])
    other = renewal.session(later)
    pass_time(renewal.tenant.services, hours=9)
    with pytest.raises(errors.SetupSessionOver):
        renewal.add(other, fresh_certificate())
    state = renewal.call(setup_operations.look_up, SetupToken(token=later["Url"].partition("link=")[2]))
    assert (state.state, state.renews) == ("active", True)
    assert renewal.trusted() == [fingerprint(renewal.present)]
