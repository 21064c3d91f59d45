"""Shibboleth's service provider protects a page of a real Apache: sign-in, attributes and single logout, by redirect and by post.

Its daemon reads the messages, and keeps the sessions.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.oauth.relying_party import Person
from tests.support.saml.peers.apache_site import HOME, ApacheSite, served_by_apache, write_key_and_metadata
from tests.support.saml.service_provider import ServiceProvider, own_key
from tests.support.services.servers import PATIENCE_SECONDS, end, program
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import Forms, VisitedPage, Visitor, words

HANDLERS = f"{HOME}/Shibboleth.sso"
ENTITY, ACS, SIGN_OUT = f"{HOME}/shibboleth", f"{HANDLERS}/SAML2/POST", f"{HANDLERS}/SLO"
REDIRECT, POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
BINDINGS = pytest.mark.parametrize("binding", [REDIRECT, POST], ids=["redirect", "post"])
PROTECTION = """
ShibConfig {folder}/shibboleth2.xml
<Location />
  Require all granted
</Location>
<Location /members/>
  AuthType shibboleth
  ShibRequestSetting requireSession true
  Require shib-session
  Header always set X-Person "expr=%{{REMOTE_USER}}"
  Header always set X-Site "%{{site}}e"
  Header always set X-Name-ID "%{{persistent}}e"
</Location>
"""
CONFIGURATION = """<SPConfig xmlns="urn:mace:shibboleth:3.0:native:sp:config" clockSkew="60">
<InProcess logger="{folder}/apache.logger"/>
<UnixListener address="{folder}/shibd.sock"/>
<ApplicationDefaults entityID="{entity}" REMOTE_USER="mail" signing="true">
<Sessions lifetime="28800" timeout="3600" checkAddress="false" handlerSSL="false" cookieProps="; path=/; HttpOnly">
<SSO entityID="{idp}" outgoingBindings="{binding}">SAML2</SSO>
<Logout outgoingBindings="{binding}">SAML2 Local</Logout></Sessions>
<MetadataProvider type="XML" validate="true" path="{folder}/idp.xml"/>
<AttributeExtractor type="XML" path="{folder}/attributes.xml"/>
<CredentialResolver type="File" key="{folder}/key.pem" certificate="{folder}/certificate.pem"/>
</ApplicationDefaults>
<SecurityPolicyProvider type="XML" path="/etc/shibboleth/security-policy.xml"/>
<ProtocolProvider type="XML" path="/etc/shibboleth/protocols.xml"/></SPConfig>"""
MAIL, URI = "urn:oid:0.9.2342.19200300.100.1.3", "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
ATTRIBUTES = f"""<Attributes xmlns="urn:mace:shibboleth:2.0:attribute-map"><Attribute name="{MAIL}" id="mail"/>
<Attribute name="site" nameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified" id="site"/>
<Attribute name="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" id="persistent">
<AttributeDecoder xsi:type="NameIDAttributeDecoder" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" formatter="$Name"/>
</Attribute></Attributes>"""
"""Shibboleth names attributes by URIs, unless its map says otherwise."""
LOGGER = """log4j.rootCategory=WARN, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.fileName={folder}/log
log4j.appender.file.layout=org.apache.log4j.BasicLayout
"""
SiteOf = Callable[[str], AbstractContextManager[ApacheSite]]


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    provider = ServiceProvider(tenant, "Wiki", ENTITY, ACS, own_key())
    provider.store(Attributes={MAIL: {"Value": "Email", "Format": URI}, "site": {"Value": "Bern", "IsStatic": True}})
    return provider


@pytest.fixture
def site_of(visitor: Visitor, wiki: ServiceProvider) -> SiteOf:
    """Return a function that serves the site, which sends its messages by a binding, and gets ours by it."""

    @contextmanager
    def serve(binding: str) -> Iterator[ApacheSite]:
        path = f"{SIGN_OUT}/{'POST' if binding == POST else 'Redirect'}"
        wiki.change(DefaultRequestBinding=binding, SpLogoutUrl=path)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)
            write_key_and_metadata(folder, visitor, wiki)
            text = CONFIGURATION.format(folder=folder, entity=ENTITY, idp=f"{visitor.home}/", binding=binding)
            (folder / "shibboleth2.xml").write_text(text)
            (folder / "attributes.xml").write_text(ATTRIBUTES)
            (folder / "apache.logger").write_text(LOGGER.format(folder=folder))
            with daemon(folder), served_by_apache(folder, "shib", PROTECTION.format(folder=folder), ACS) as site:
                yield site

    return serve


@contextmanager
def daemon(folder: Path) -> Iterator[None]:
    """Run Shibboleth's daemon until the block ends; Apache's user may write to its socket."""
    files = ["-c", str(folder / "shibboleth2.xml"), "-p", str(folder / "shibd.pid")]
    command = [program("shibd", "usr/sbin"), "-F", "-f", *files]
    with (folder / "shibd.log").open("ab") as log:
        quiet = {**os.environ, "SHIBSP_LOGGING": "/etc/shibboleth/console.logger"}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=quiet)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (folder / "shibd.sock").exists():
            assert process.poll() is None, (folder / "shibd.log").read_text()
            assert time.monotonic() < deadline, "Shibboleth’s daemon did not start"
            time.sleep(0.05)
        yield
    finally:
        end(process.pid, signal.SIGTERM)


def begun(site: ApacheSite, visitor: Visitor, path: str, binding: str) -> VisitedPage:
    """Open a page of the site that sends the browser to us, and return what we show."""
    if binding == REDIRECT:
        return visitor.open(site.leaves(path))
    answer = site.open(f"{HOME}{path}")
    while answer.is_redirect:
        answer = site.open(answer.headers["Location"])
    form = Forms(answer.text).found[0]
    return visitor.send("POST", form.action, form.fields)


def deliver(site: ApacheSite, page: VisitedPage, binding: str) -> httpx.Response:
    """Bring a message of ours to the site: in the address, or in the form of our page."""
    if binding == REDIRECT:
        return site.open(page.address)
    form = page.form("Continue")
    return site.post(form.action, form.fields)


def signed_in(site: ApacheSite, visitor: Visitor, ada: Person, binding: str) -> str:
    """Sign in at the site, and return the NameID that it got."""
    members = site.sign_in(visitor, ada, begun(site, visitor, "/members/", binding))
    assert (members.headers["X-Person"], members.headers["X-Site"]) == (ada.email, "Bern")
    return members.headers["X-Name-ID"]


@BINDINGS
def test_shibboleth_signs_in_and_out(site_of: SiteOf, visitor: Visitor, ada: Person, binding: str) -> None:
    with site_of(binding) as site:
        signed_in(site, visitor, ada, binding)
        answer = deliver(site, begun(site, visitor, "/Shibboleth.sso/Logout", binding), binding)
        assert "Status of Global Logout: Logout completed successfully." in words(answer.text)
        assert visitor.open("/profile").is_sign_in
        assert site.is_signed_out


@BINDINGS
def test_our_sign_out_reaches_shibboleth(site_of: SiteOf, visitor: Visitor, ada: Person, binding: str) -> None:
    with site_of(binding) as site:
        signed_in(site, visitor, ada, binding)
        asked = deliver(site, visitor.open("/logout").press("Sign out"), binding)
        assert "signed out" in visitor.open(asked.headers["Location"]).text
        assert site.is_signed_out


def test_shibboleth_reads_encrypted_assertions(
    site_of: SiteOf, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    wiki.change(EncryptAssertion=True, SignResponse=True)
    with site_of(REDIRECT) as site:
        first = signed_in(site, visitor, ada, REDIRECT)
        site.client.cookies.clear()
        assert signed_in(site, visitor, ada, REDIRECT) == first


def test_forged_assertion_opens_no_page(site_of: SiteOf, visitor: Visitor, ada: Person) -> None:
    """The daemon verifies: without this, each test above could pass at a site that believes everything."""
    with site_of(REDIRECT) as site:
        page = visitor.open(site.leaves("/members/")).press("Sign in", identifier=ada.email, password=ada.password)
        fields = page.form("Continue").fields
        answer = site.post(ACS, {**fields, "SAMLResponse": fields["SAMLResponse"].replace("A", "B", 50)})
        assert not answer.is_redirect
        assert site.is_signed_out
