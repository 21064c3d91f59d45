"""Connections to directory servers: addresses, TLS, and servers that hang or send the person elsewhere."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap import ldap_client
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable, PasswordProblem, PasswordRefused
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.outbound.deadlines import Deadline
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes import silent_directory
from tests.support.fakes.silent_directory import BOUND, STARTED, Behaviour
from tests.support.oauth.client_certificates import Certificate
from tests.support.services import slapd
from tests.support.services.slapd import HOST, PEOPLE, Slapd

LOOPBACK = Resolver(["127.0.0.0/8"])
DAY = timedelta(days=1)


def refusal_of(url: str, ca: str, *, resolver: Resolver = LOOPBACK, seconds: float = 10) -> LdapUnavailable:
    """Return the refusal of a bind and a search."""
    with pytest.raises(LdapUnavailable) as refusal:
        search(LdapServer.of(url, ca), resolver, seconds)
    return refusal.value


def search(server: LdapServer, resolver: Resolver, seconds: float) -> None:
    with ldap_client.connected(resolver, server, Deadline(seconds)) as connection:
        connection.bind_service(slapd.SERVICE, slapd.SERVICE_PASSWORD)
        connection.find(PEOPLE, "(uid={login})", "ada", ["uid"])


def context_of(ca: Certificate, folder: Path) -> ssl.SSLContext:
    own = slapd.of_host(ca)
    (folder / "pem").write_text(own.pem + own.key_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pem")
    return context


@pytest.mark.parametrize("is_start_tls", [False, True])
@pytest.mark.parametrize(
    ("name", "begins", "ends", "received"),
    [
        (HOST, -2 * DAY, -DAY, "expired"),
        (HOST, DAY, 2 * DAY, "not yet valid"),
        ("other.localhost", -DAY, DAY, "not valid for"),
    ],
)
def test_wrong_certificate_is_refused(
    name: str, begins: timedelta, ends: timedelta, received: str, is_start_tls: bool
) -> None:
    ca = slapd.authority()
    with Slapd.running(slapd.of_host(ca, name, begins=begins, ends=ends)) as server:
        refusal = refusal_of(server.start_tls_url if is_start_tls else server.url, ca.pem)
    assert refusal.check is ConnectionCheck.LDAP_TLS
    assert received in refusal.finding.received


def test_certificate_of_another_authority_is_refused(directory: Slapd) -> None:
    for url in (directory.url, directory.start_tls_url):
        for ca in (slapd.authority().pem, ""):
            refusal = refusal_of(url, ca)
            assert refusal.check is ConnectionCheck.LDAP_TLS
            assert "certificate" in refusal.finding.received


def test_text_that_is_no_certificate_is_refused(directory: Slapd) -> None:
    for text in ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "nonsense", "ü"):
        assert refusal_of(directory.url, text).check is ConnectionCheck.LDAP_TLS


def test_ldaps_to_the_port_without_tls_is_refused(directory: Slapd) -> None:
    assert refusal_of(f"ldaps://{HOST}:{directory.port}", directory.ca.pem).check is ConnectionCheck.LDAP_TLS


def test_inward_address_needs_the_operators_permission(directory: Slapd) -> None:
    for host in (HOST, "127.0.0.1", "[::1]"):
        refusal = refusal_of(f"ldaps://{host}:{directory.ldaps_port}", directory.ca.pem, resolver=Resolver())
        assert refusal.check is ConnectionCheck.LDAP_ADDRESS


def test_closed_port_is_named() -> None:
    refusal = refusal_of("ldaps://directory.localhost:1", "")
    assert refusal.check is ConnectionCheck.LDAP_CONNECTION
    assert "refused" in refusal.finding.received


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
def test_silent_server_ends_with_the_deadline(scheme: str) -> None:
    with silent_directory.server(silent_directory.stays_silent) as port:
        refusal = refusal_of(f"{scheme}://{HOST}:{port}", "", seconds=0.3)
    assert refusal.check is ConnectionCheck.LDAP_TLS
    assert refusal.finding.received == "no answer in time"


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
def test_server_that_drips_ends_with_the_deadline(scheme: str) -> None:
    with silent_directory.server(silent_directory.drips) as port:
        refusal = refusal_of(f"{scheme}://{HOST}:{port}", "", seconds=0.4)
    assert refusal.check is ConnectionCheck.LDAP_TLS


@pytest.mark.parametrize("hangs", [silent_directory.hangs_after_tls, silent_directory.drips_after_tls])
def test_server_that_answers_no_bind_ends_with_the_deadline(
    hangs: Callable[[ssl.SSLContext], Behaviour], tmp_path: Path
) -> None:
    ca = slapd.authority()
    with silent_directory.server(hangs(context_of(ca, tmp_path))) as port:
        refusal = refusal_of(f"ldaps://{HOST}:{port}", ca.pem, seconds=0.5)
    assert refusal.check is ConnectionCheck.LDAP_BIND
    assert refusal.finding.received


@pytest.mark.parametrize(
    "answer",
    [
        STARTED.replace(b"\x0a\x01\x00", b"\x0a\x01\x34"),  # unavailable
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        BOUND,  # the response to another operation
        STARTED + BOUND,  # an answer in advance, without TLS
        b"\x30\x84\xff\xff\xff\xff" + b"\0" * 100,
        b"\x30\x00",
        b"\x30\x0c" + b"\0" * 12,
    ],
)
def test_wrong_answer_to_starttls_is_refused(answer: bytes) -> None:
    behave: Behaviour = silent_directory.responds(answer)
    with silent_directory.server(behave) as port:
        refusal = refusal_of(f"ldap://{HOST}:{port}", "", seconds=0.5)
    assert refusal.check is ConnectionCheck.LDAP_TLS


def test_referral_to_elsewhere_is_not_followed() -> None:
    asked: list[bytes] = []

    def records(connection: object, _: object) -> None:
        asked.append(b"asked")

    with silent_directory.server(records) as port, Slapd.running() as server:
        server.add(
            f"ou=elsewhere,{PEOPLE}",
            objectClass=["referral", "extensibleObject"],
            ou="elsewhere",
            ref=f"ldap://127.0.0.1:{port}/ou=people,dc=corp,dc=test??sub?(uid=*)",
        )
        conversation = ldap_client.connected(LOOPBACK, LdapServer.of(server.url, server.ca.pem), Deadline(10))
        with conversation as connection:
            connection.bind_service(slapd.SERVICE, slapd.SERVICE_PASSWORD)
            assert connection.find(PEOPLE, "(uid={login})", "nobody", ["uid"]) is None
            with pytest.raises(LdapUnavailable) as refusal:
                connection.find(f"ou=elsewhere,{PEOPLE}", "(uid={login})", "ada", ["uid"])
    assert refusal.value.check is ConnectionCheck.LDAP_SEARCH
    assert "referral" in refusal.value.finding.received
    assert asked == []


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("52e", PasswordProblem.WRONG),
        ("525", PasswordProblem.WRONG),
        ("775", PasswordProblem.WRONG),  # locked: given with a wrong password, too
        ("533", PasswordProblem.DISABLED),
        ("701", PasswordProblem.DISABLED),
        ("532", PasswordProblem.EXPIRED),
        ("773", PasswordProblem.EXPIRED),
    ],
)
def test_reason_of_active_directory_is_read(data: str, problem: PasswordProblem, tmp_path: Path) -> None:
    ca = slapd.authority()
    info = f"80090308: LdapErr: DSID-0C090447, AcceptSecurityContext error, data {data}, v3839"
    behave = silent_directory.refuses_bind(context_of(ca, tmp_path), info)
    with silent_directory.server(behave) as port:
        server = LdapServer.of(f"ldaps://{HOST}:{port}", ca.pem)
        with (
            pytest.raises(PasswordRefused) as refusal,
            ldap_client.connected(LOOPBACK, server, Deadline(10)) as connection,
        ):
            connection.check_password("cn=ada", "a password")
    assert refusal.value.problem is problem
    assert refusal.value.detail == f"49 {data}"
