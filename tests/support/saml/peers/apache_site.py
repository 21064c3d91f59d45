"""Apache protects a page of a service provider at HOME; a browser without scripts keeps the cookies of that host."""

from __future__ import annotations

import getpass
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.conformance.test_mod_auth_openidc import started
from tests.support.oauth.relying_party import Person
from tests.support.saml.service_provider import ServiceProvider, posted_form, read_document
from tests.support.services.servers import end, free_port, program
from tests.support.visitors.visitor import VisitedPage, Visitor

HOME = "https://wiki.example"
PRIVATE_PAGE = "members only"
_MODULES = "/usr/lib/apache2/modules"
_USED = ("mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "mime")
_CONFIGURATION = """
ServerRoot "{folder}"
ServerName {home}
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/log"
LogLevel warn
User {user}
{modules}
UseCanonicalName On
TypesConfig /etc/mime.types
DocumentRoot "{folder}/pages"
{protection}
"""


class _AtPort(httpx.HTTPTransport):
    """Sends the requests for any host to Apache."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url.copy_with(host="127.0.0.1", port=self.port)
        return super().handle_request(
            httpx.Request(request.method, url, headers=request.headers, content=request.read())
        )


class ApacheSite:
    """The site of a service provider; `members/` is for people who signed in, and names them in a header."""

    def __init__(self, client: httpx.Client, acs_url: str) -> None:
        self.client, self.acs_url = client, acs_url

    def open(self, address: str) -> httpx.Response:
        return self.client.get(_local(address))

    def post(self, address: str, fields: dict[str, str]) -> httpx.Response:
        return self.client.post(_local(address), data=fields)

    def leaves(self, path: str) -> str:
        """Open a page, and return the address at which the browser leaves the site."""
        address = f"{HOME}{path}"
        while address.startswith(HOME):
            address = self.open(address).headers["Location"]
        return address

    def sign_in(self, visitor: Visitor, person: Person, page: VisitedPage) -> httpx.Response:
        """Go on from the page at the identity provider to the private page, and return that."""
        if page.is_sign_in:
            page = page.press("Sign in", identifier=person.email, password=person.password)
        form = posted_form(page)
        assert form.action == self.acs_url
        back = self.post(form.action, form.fields)
        assert back.is_redirect, back.text
        private = self.open(back.headers["Location"])
        assert private.text == PRIVATE_PAGE
        return private

    @property
    def is_signed_out(self) -> bool:
        return self.client.get("/members/").text != PRIVATE_PAGE


def _local(address: str) -> str:
    assert address.startswith(f"{HOME}/"), address
    return address.removeprefix(HOME)


@contextmanager
def served_by_apache(folder: Path, module: str, protection: str, acs_url: str) -> Iterator[ApacheSite]:
    """Serve the site until the block ends; Apache believes that it is at HOME.

    Args:
        module: the name of the Apache module that speaks SAML.
        protection: its directives.
    """
    folder.chmod(0o755)  # Apache reads its pages as another user where the tests run as root
    for path, text in (("pages/index.html", "everybody"), ("pages/members/index.html", PRIVATE_PAGE)):
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(text)
    modules = "\n".join(f"LoadModule {name} {path}" for name, path in _modules(module))
    user, port = "www-data" if os.geteuid() == 0 else getpass.getuser(), free_port()
    text = _CONFIGURATION.format(folder=folder, home=HOME, port=port, user=user, modules=modules, protection=protection)
    (folder / "apache.conf").write_text(text)
    command = [program("apache2", "usr/sbin"), "-d", str(folder), "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
    server = subprocess.Popen(command)
    try:
        started(f"http://127.0.0.1:{port}", server)
        with httpx.Client(base_url=HOME.replace("https", "http"), transport=_AtPort(port)) as client:
            yield ApacheSite(client, acs_url)
    finally:
        end(server.pid, signal.SIGTERM)


def _modules(module: str) -> list[tuple[str, str]]:
    """Return the names and files of modules; that of Shibboleth is called mod_shib in its file."""
    names = [(f"{name}_module", f"{_MODULES}/mod_{name}.so") for name in _USED]
    return [*names, ("mod_shib" if module == "shib" else f"{module}_module", f"{_MODULES}/mod_{module}.so")]


def write_key_and_metadata(folder: Path, visitor: Visitor, wiki: ServiceProvider) -> str:
    """Write the key pair of the service provider and our metadata, and return its certificate in bare base64."""
    assert wiki.key is not None
    (folder / "key.pem").write_text(wiki.key.private_key)
    (folder / "certificate.pem").write_text(wiki.key.certificate)
    (folder / "idp.xml").write_bytes(read_document(wiki.tenant, visitor, wiki.name).data)
    return "".join(wiki.key.certificate.splitlines()[1:-1])
