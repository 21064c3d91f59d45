"""Binds, searches, groups and password changes at a real directory server."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap import ldap_client
from app.identity.platform.ldap.ldap_connection import LdapConnection
from app.identity.platform.ldap.ldap_entry import STATE_ATTRIBUTES, LdapEntry
from app.identity.platform.ldap.ldap_refusals import (
    LdapUnavailable,
    NewPasswordRefused,
    PasswordProblem,
    PasswordRefused,
)
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.outbound.deadlines import Deadline
from app.kit.outbound.host_resolver import Resolver
from tests.support.services import slapd
from tests.support.services.slapd import PASSWORD, PEOPLE, Slapd

FILTER = "(&(objectClass=inetOrgPerson)(|(uid={login})(mail={login})))"
ATTRIBUTES = ["uid", "mail", "entryUUID", "objectGUID", "memberOf", *STATE_ATTRIBUTES]
LOOPBACK = Resolver(["127.0.0.0/8"])


@contextmanager
def conversation(directory: Slapd, *, url: str = "", is_bound: bool = True) -> Iterator[LdapConnection]:
    server = LdapServer.of(url or directory.url, directory.ca.pem)
    with ldap_client.connected(LOOPBACK, server, Deadline(10)) as connection:
        if is_bound:
            connection.bind_service(slapd.SERVICE, slapd.SERVICE_PASSWORD)
        yield connection


def test_starttls_and_ldaps_find_and_bind_a_person(directory: Slapd) -> None:
    for url in (directory.url, directory.start_tls_url):
        with conversation(directory, url=url) as connection:
            entry = connection.find(PEOPLE, FILTER, "ada@corp.test", ATTRIBUTES)
            assert entry is not None
            assert entry.dn == f"uid=ada,{PEOPLE}"
            connection.check_password(entry.dn, PASSWORD)


def test_small_messages_do_not_wait_for_acknowledgements(directory: Slapd) -> None:
    """With Nagle's algorithm, the first bind waits 40 ms for the acknowledgement that the server delays."""
    with conversation(directory):
        options = [
            each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in _connections_to(directory.ldaps_port)
        ]
    assert options
    assert all(options)


def _connections_to(port: int) -> Iterator[socket.socket]:
    """Yield the TCP connections of this process to a port, each until the next one."""
    for path in Path("/proc/self/fd").iterdir():
        if path.is_socket():
            with socket.socket(fileno=os.dup(int(path.name))) as each, suppress(OSError):
                if each.family == socket.AF_INET and each.getpeername()[1] == port:
                    yield each


@pytest.mark.parametrize("password", ["wrong", "", "\0", PASSWORD + "\0", "ü" * 2_000, "\ud800"])
def test_wrong_and_empty_passwords_are_refused(directory: Slapd, password: str) -> None:
    with conversation(directory) as connection, pytest.raises(PasswordRefused) as refusal:
        connection.check_password(f"uid=ada,{PEOPLE}", password)
    assert refusal.value.problem is PasswordProblem.WRONG


def test_bind_of_an_unknown_entry_is_a_wrong_password(directory: Slapd) -> None:
    with conversation(directory) as connection, pytest.raises(PasswordRefused) as refusal:
        connection.check_password(f"uid=nobody,{PEOPLE}", PASSWORD)
    assert refusal.value.problem is PasswordProblem.WRONG


@pytest.mark.parametrize(
    "login",
    [
        "*", "a*", "ada)(uid=*", "*)(objectClass=*", "ada)(|(uid=*", "ada\0", "\\2a", "ada)(userPassword=*))(|(uid=a", "(ada)",
        "ada@corp.test)(!(uid=x)", "\\", "\u202eada", "ada\n", "é*", "*" * 10_000, "\ud800ada", "{login}", "{dn}",
    ],
)  # fmt: skip
def test_no_login_changes_the_filter(directory: Slapd, login: str) -> None:
    with conversation(directory) as connection:
        assert connection.find(PEOPLE, FILTER, login, ATTRIBUTES) is None


def test_two_matching_people_are_refused(directory: Slapd) -> None:
    directory.add_person("twin1", mail="twins@corp.test")
    directory.add_person("twin2", mail="twins@corp.test")
    with conversation(directory) as connection, pytest.raises(LdapUnavailable) as refusal:
        connection.find(PEOPLE, FILTER, "twins@corp.test", ATTRIBUTES)
    assert refusal.value.check is ConnectionCheck.LDAP_SEARCH


@pytest.mark.parametrize(("dn", "password"), [(slapd.SERVICE, "wrong"), (slapd.SERVICE, ""), ("cn=no", "x")])
def test_refused_service_account_is_named(directory: Slapd, dn: str, password: str) -> None:
    with conversation(directory, is_bound=False) as connection, pytest.raises(LdapUnavailable) as refusal:
        connection.bind_service(dn, password)
    assert refusal.value.check is ConnectionCheck.LDAP_BIND
    assert dn in refusal.value.finding.expected


def test_binary_guid_names_a_person_and_finds_it(directory: Slapd) -> None:
    number = uuid.UUID("00112233-4455-6677-8899-aabbccddee00")
    directory.add_person("guid", objectGUID=number.bytes_le)
    with conversation(directory) as connection:
        entry = connection.find(PEOPLE, FILTER, "guid", ATTRIBUTES)
        assert entry is not None
        assert entry.subject("objectGUID") == str(number)
        again = connection.find_subject(PEOPLE, "objectGUID", str(number), ATTRIBUTES)
        assert again is not None
        assert again.dn == entry.dn
        by_uuid = connection.find_subject(PEOPLE, "entryUUID", entry.subject("entryUUID"), ATTRIBUTES)
        assert by_uuid is not None
        assert by_uuid.dn == entry.dn
        assert connection.find_subject(PEOPLE, "objectGUID", "no GUID", ATTRIBUTES) is None


def test_groups_are_found_by_member_and_by_attribute(directory: Slapd) -> None:
    dn = directory.add_person("grouped")
    group = directory.add_group("staff (all)", dn)
    with conversation(directory) as connection:
        found = connection.groups_of(slapd.GROUPS, "(&(objectClass=groupOfNames)(member={dn}))", dn)
        assert [entry.dn for entry in found] == [group]
        entry = connection.find(PEOPLE, FILTER, "grouped", ATTRIBUTES)
        assert entry is not None
        assert entry.texts("memberOf") == [group]


def test_person_changes_the_password_upstream(directory: Slapd) -> None:
    dn = directory.add_person("changing")
    with conversation(directory) as connection:
        connection.check_password(dn, PASSWORD)
        connection.change_password(dn, PASSWORD, "another long password")
    with conversation(directory) as connection:
        connection.check_password(dn, "another long password")
        with pytest.raises(PasswordRefused):
            connection.check_password(dn, PASSWORD)


def test_password_of_another_person_is_not_changed(directory: Slapd) -> None:
    dn, other = directory.add_person("changer"), directory.add_person("victim")
    with conversation(directory) as connection:
        connection.check_password(dn, PASSWORD)
        with pytest.raises(NewPasswordRefused):
            connection.change_password(other, PASSWORD, "another long password")


def test_turned_off_entries_are_recognized(directory: Slapd) -> None:
    directory.add_person("off", userAccountControl="514")
    with conversation(directory) as connection:
        entry, ada = (connection.find(PEOPLE, FILTER, name, ATTRIBUTES) for name in ("off", "ada"))
    assert entry is not None
    assert entry.is_disabled
    assert ada is not None
    assert not ada.is_disabled


@pytest.mark.parametrize("text", ["²", "--5", "5" * 5_000, "x", ""])
def test_state_that_is_no_number_is_left_out(text: str) -> None:
    """A directory may answer anything, and a sign-in must not end with an error of ours."""
    assert not LdapEntry("uid=ada", {"useraccountcontrol": (text.encode(),)}).is_disabled


def test_huge_answer_ends_the_conversation(directory: Slapd) -> None:
    directory.add_person("huge", description=["x" * 200_000 + str(number) for number in range(8)])
    with conversation(directory) as connection, pytest.raises(LdapUnavailable) as refusal:
        connection.find(PEOPLE, FILTER, "huge", ["*"])
    assert "1,000,000 bytes" in refusal.value.finding.received
