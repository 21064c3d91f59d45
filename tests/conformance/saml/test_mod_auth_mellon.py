"""mod_auth_mellon protects a page of a real Apache: sign-in by redirect, attributes, and single logout both ways."""

from __future__ import annotations

import getpass
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conformance.test_mod_auth_openidc import started
from tests.support.oauth.relying_party import Person
from tests.support.saml.service_provider import ServiceProvider, own_key, posted_form, read_document
from tests.support.services.servers import end, free_port, program
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import Visitor

MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "mime", "auth_mellon"]
FOLDER = "/usr/lib/apache2/modules"
HOME = "https://wiki.example"
ENTITY, ACS, SIGN_OUT = f"{HOME}/mellon/metadata", f"{HOME}/mellon/postResponse", f"{HOME}/mellon/logout"
CONFIGURATION = """
ServerRoot "{folder}"
ServerName {home}
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/log"
LogLevel warn auth_mellon:debug
User {user}
{modules}
UseCanonicalName On
TypesConfig /etc/mime.types
DocumentRoot "{folder}/pages"
<Location />
  Require all granted
  MellonEnable info
  MellonEndpointPath /mellon
  MellonSPentityId {entity}
  MellonSPPrivateKeyFile {folder}/key.pem
  MellonSPCertFile {folder}/certificate.pem
  MellonSPMetadataFile {folder}/sp.xml
  MellonIdPMetadataFile {folder}/idp.xml
  MellonSignatureMethod rsa-sha256
  MellonUser mail
  MellonSecureCookie Off
</Location>
<Location /members/>
  MellonEnable auth
  Require valid-user
  Header always set X-Person "expr=%{{REMOTE_USER}}"
  Header always set X-Site "%{{MELLON_site}}e"
</Location>
"""
METADATA = """<EntityDescriptor entityID="{entity}" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">
<SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true"
 protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor><KeyInfo
 xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo>
</KeyDescriptor><SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="{sign_out}"/>
<AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
 Location="{acs}"/></SPSSODescriptor></EntityDescriptor>"""


class AtPort(httpx.HTTPTransport):
    """Sends the requests for any host to Apache, so that the browser keeps the cookies of HOME."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url.copy_with(host="127.0.0.1", port=self.port)
        return super().handle_request(
            httpx.Request(request.method, url, headers=request.headers, content=request.read())
        )


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    provider = ServiceProvider(tenant, "Wiki", ENTITY, ACS, own_key())
    provider.store(
        SpLogoutUrl=SIGN_OUT, Attributes={"mail": {"Value": "Email"}, "site": {"Value": "Bern", "IsStatic": True}}
    )
    return provider


@pytest.fixture
def apache(visitor: Visitor, wiki: ServiceProvider) -> Iterator[httpx.Client]:
    """Serve the page, and return a browser of it; Apache believes that it is at HOME."""
    executable, port = program("apache2", "usr/sbin"), free_port()
    at_home = httpx.Client(base_url=HOME.replace("https", "http"), transport=AtPort(port))
    with tempfile.TemporaryDirectory() as name, at_home as client:
        folder = Path(name)
        folder.chmod(0o755)  # Apache reads its pages as another user where the tests run as root
        write_files(folder, visitor, wiki)
        modules = "\n".join(f"LoadModule {module}_module {FOLDER}/mod_{module}.so" for module in MODULES)
        user = "www-data" if os.geteuid() == 0 else getpass.getuser()
        text = CONFIGURATION.format(folder=folder, port=port, home=HOME, entity=ENTITY, user=user, modules=modules)
        (folder / "apache.conf").write_text(text)
        server = subprocess.Popen([executable, "-d", name, "-f", folder / "apache.conf", "-D", "FOREGROUND"])
        try:
            started(f"http://127.0.0.1:{port}", server)
            yield client
        finally:
            end(server.pid, signal.SIGTERM)


def write_files(folder: Path, visitor: Visitor, wiki: ServiceProvider) -> None:
    """Write the pages, the key pair, and the metadata of both sides."""
    assert wiki.key is not None
    for path in ("pages/index.html", "pages/members/index.html"):
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text("members only" if "members" in path else "everybody")
    (folder / "key.pem").write_text(wiki.key.private_key)
    (folder / "certificate.pem").write_text(wiki.key.certificate)
    (folder / "idp.xml").write_bytes(read_document(wiki.tenant, visitor, wiki.name).data)
    bare = "".join(wiki.key.certificate.splitlines()[1:-1])
    (folder / "sp.xml").write_text(METADATA.format(entity=ENTITY, certificate=bare, sign_out=SIGN_OUT, acs=ACS))


def local(address: str) -> str:
    assert address.startswith(f"{HOME}/")
    return address.removeprefix(HOME)


def leaves(apache: httpx.Client, path: str) -> str:
    """Open a page of Apache, and return the address at which the browser leaves it."""
    address = f"{HOME}{path}"
    while address.startswith(HOME):
        address = apache.get(local(address)).headers["Location"]
    return address


def signed_in(apache: httpx.Client, visitor: Visitor, ada: Person) -> None:
    page = visitor.open(leaves(apache, "/members/"))
    if page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    back = apache.post(local(ACS), data=posted_form(page).fields)
    assert back.status_code == 303, back.text
    members = apache.get(local(back.headers["Location"]))
    assert members.text == "members only"
    assert (members.headers["X-Person"], members.headers["X-Site"]) == (ada.email, "Bern")


def test_apache_signs_in_and_out(apache: httpx.Client, visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    signed_in(apache, visitor, ada)
    back = visitor.open(leaves(apache, f"/mellon/logout?ReturnTo={HOME}/bye"))
    answered = apache.get(local(back.address))
    assert answered.headers["Location"] == f"{HOME}/bye"
    assert visitor.open("/profile").is_sign_in
    assert apache.get("/members/").status_code == 303


def test_our_sign_out_reaches_apache(
    apache: httpx.Client, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    signed_in(apache, visitor, ada)
    page = visitor.open("/logout").press("Sign out")
    answered = apache.get(local(page.address))
    assert "signed out" in visitor.open(answered.headers["Location"]).text
    assert apache.get("/members/").status_code == 303
