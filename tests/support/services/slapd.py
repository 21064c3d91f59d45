"""A real OpenLDAP server with TLS, and people and groups in it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ldap
import ldap.modlist
from cryptography import x509

from tests.support.oauth.client_certificates import Certificate, certificate
from tests.support.services.servers import TestServer, free_port, program

HOST = "directory.localhost"
SUFFIX = "dc=corp,dc=test"
PEOPLE = f"ou=people,{SUFFIX}"
GROUPS = f"ou=groups,{SUFFIX}"
ADMIN = f"cn=admin,{SUFFIX}"
ADMIN_PASSWORD = "of the administrator"
SERVICE = f"cn=gatehouse,{SUFFIX}"
SERVICE_PASSWORD = "s3rvice of gatehouse"
PASSWORD = "correct horse battery staple"
MAIL_DOMAIN = "corp.test"
_SCHEMA = """
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.2.840.113556.1.5.9999 NAME 'windowsUser' SUP top AUXILIARY MAY ( objectGUID $ userAccountControl ) )
"""
_CONFIGURATION = """
include {schemas}/core.schema
include {schemas}/cosine.schema
include {schemas}/inetorgperson.schema
include {folder}/windows.schema
modulepath {modules}
moduleload back_mdb
moduleload memberof
TLSCACertificateFile {folder}/ca.pem
TLSCertificateFile {folder}/server.pem
TLSCertificateKeyFile {folder}/server.key
pidfile {folder}/pid
{more}
database mdb
suffix "{suffix}"
rootdn "{admin}"
rootpw "{admin_password}"
directory {folder}/data
overlay memberof
access to attrs=userPassword by self write by anonymous auth by * none
access to * by dn.exact="{service}" read by self read by * none
{overlays}
"""


def authority() -> Certificate:
    """Return a new certificate authority."""
    return certificate("CN=Corp Authority", is_authority=True)


def of_host(signed_by: Certificate, name: str = HOST, **validity: Any) -> Certificate:
    """Return a certificate of a directory server."""
    return certificate(f"CN={name}", [x509.DNSName(name)], signed_by=signed_by, **validity)


@dataclass
class Slapd(TestServer):
    """The server. `ca` issued its certificate, `ldaps_port` has TLS at once and `port` StartTLS."""

    ca: Certificate = field(default_factory=authority)
    ldaps_port: int = field(default_factory=free_port)
    more: str = ""
    overlays: str = ""

    @classmethod
    @contextmanager
    def running(
        cls, server_certificate: Certificate | None = None, more: str = "", overlays: str = ""
    ) -> Iterator[Slapd]:
        """Start a server with the organizational units, the service account, and Ada.

        Args:
            server_certificate: another one than of its host by `ca`.
            more: further lines of its configuration, before its database.
            overlays: further lines after its database.
        """
        server = cls(Path(tempfile.mkdtemp(prefix="gatehouse-slapd-", dir="/tmp")), more=more, overlays=overlays)
        try:
            server.write(server_certificate or of_host(server.ca))
            server.start()
            server.fill()
            yield server
        finally:
            server.remove()

    @property
    def url(self) -> str:
        return f"ldaps://{HOST}:{self.ldaps_port}"

    @property
    def start_tls_url(self) -> str:
        return f"ldap://{HOST}:{self.port}"

    def write(self, server_certificate: Certificate) -> None:
        binary = Path(program("slapd", "usr/sbin"))
        root = binary.parents[2]
        (self.folder / "data").mkdir()
        (self.folder / "windows.schema").write_text(_SCHEMA)
        (self.folder / "ca.pem").write_text(self.ca.pem)
        (self.folder / "server.pem").write_text(server_certificate.pem)
        (self.folder / "server.key").write_text(server_certificate.key_pem)
        facts = {
            "schemas": root / "etc/ldap/schema", "modules": root / "usr/lib/ldap", "folder": self.folder, "suffix": SUFFIX,
            "admin": ADMIN, "admin_password": ADMIN_PASSWORD, "service": SERVICE, "more": self.more, "overlays": self.overlays,
        }  # fmt: skip
        (self.folder / "slapd.conf").write_text(_CONFIGURATION.format(**facts))

    def start(self) -> None:
        urls = f"ldap://127.0.0.1:{self.port} ldaps://127.0.0.1:{self.ldaps_port}"
        command = [program("slapd", "usr/sbin"), "-f", str(self.folder / "slapd.conf"), "-h", urls, "-d", "0"]
        self.launch(command, lambda: self.as_admin().unbind_s(), ldap.LDAPError)

    def fill(self) -> None:
        self.add(SUFFIX, objectClass=["dcObject", "organization"], o="Corp")
        for unit in (PEOPLE, GROUPS):
            self.add(unit, objectClass="organizationalUnit")
        service = ["organizationalRole", "simpleSecurityObject"]
        self.add(SERVICE, objectClass=service, userPassword=SERVICE_PASSWORD)
        self.add_person("ada", given_name="Ada", surname="Lovelace")

    def as_admin(self) -> Any:
        connection = ldap.initialize(f"ldap://127.0.0.1:{self.port}")
        connection.simple_bind_s(ADMIN, ADMIN_PASSWORD)
        return connection

    def add(self, dn: str, **attributes: str | bytes | Sequence[str]) -> None:
        connection = self.as_admin()
        connection.add_s(dn, ldap.modlist.addModlist({name: _values(value) for name, value in attributes.items()}))
        connection.unbind_s()

    def replace(self, dn: str, **attributes: str | bytes | Sequence[str]) -> None:
        connection = self.as_admin()
        connection.modify_s(dn, [(ldap.MOD_REPLACE, name, _values(value)) for name, value in attributes.items()])
        connection.unbind_s()

    def add_person(self, uid: str, *, given_name: str = "A", surname: str = "Person", **attributes: Any) -> str:
        """Add a person with an address and the password of all; return the DN."""
        dn = f"uid={uid},{PEOPLE}"
        facts: Mapping[str, Any] = {
            "objectClass": ["inetOrgPerson", "windowsUser"], "givenName": given_name, "sn": surname, "cn": f"{given_name} {surname}",
            "mail": f"{uid}@{MAIL_DOMAIN}", "userPassword": PASSWORD, "objectGUID": uuid.uuid4().bytes_le, "userAccountControl": "512",
        }  # fmt: skip
        self.add(dn, **{**facts, **attributes})
        return dn

    def subject_of(self, uid: str) -> str:
        """Return the `entryUUID` of a person."""
        connection = self.as_admin()
        (_, attributes), *_ = connection.search_s(PEOPLE, ldap.SCOPE_SUBTREE, f"(uid={uid})", ["entryUUID"])
        connection.unbind_s()
        return str(attributes["entryUUID"][0].decode())

    def add_group(self, name: str, *members: str) -> str:
        dn = f"cn={name},{GROUPS}"
        self.add(dn, objectClass="groupOfNames", member=members)
        return dn

    def remove(self) -> None:
        super().remove()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def shared() -> Slapd:
    """Return a server that runs until the process ends, for people whom no test changes."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(Slapd.running())


def _values(value: str | bytes | Sequence[str]) -> list[bytes]:
    if isinstance(value, bytes):
        return [value]
    return [text.encode() for text in ([value] if isinstance(value, str) else value)]


def provider_of(server: Slapd, **changed: Any) -> dict[str, Any]:
    """Return the LDAP provider of a server, as programs create it."""
    return {
        "ProviderName": "corp", "FriendlyProviderName": "Corp", "ServerUrl": server.url, "CaCertificates": server.ca.pem,
        "BindDn": SERVICE, "BindPassword": SERVICE_PASSWORD, "BaseDn": PEOPLE, "Domain": MAIL_DOMAIN, "TrustsEmail": True,
        **changed,
    }  # fmt: skip
