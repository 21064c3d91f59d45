"""mod_auth_openidc, certified by the OpenID Foundation, protects a page of a real Apache."""

from __future__ import annotations

import getpass
import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.conformance.provider import SECRET
from tests.conformance.signing_in import EMAIL, sign_in
from tests.support.browsers.chromium import Opened
from tests.support.services.servers import end, program

MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "mime", "auth_openidc"]
CONFIGURATION = """
ServerRoot "{folder}"
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/log"
LogLevel warn auth_openidc:info
User {user}
{modules}
TypesConfig /etc/mime.types
DocumentRoot "{folder}/pages"
<Directory "{folder}/pages">
  Require all granted
  DirectoryIndex index.html
</Directory>

OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID apache
OIDCClientSecret "{secret}"
OIDCRedirectURI http://127.0.0.1:{port}/members/callback
OIDCCryptoPassphrase {passphrase}
OIDCScope "openid email profile"
OIDCPKCEMethod S256
OIDCCookieSameSite On
OIDCRemoteUserClaim email
OIDCUserInfoRefreshInterval 0
<Location /members/>
  AuthType openid-connect
  Require claim email_verified:true
  Header always set X-Person "expr=%{{REMOTE_USER}}"
  Header always set X-Name "%{{OIDC_CLAIM_name}}e"
</Location>
"""


@pytest.fixture
def apache(hub_url: str, ports: dict[str, int]) -> Iterator[str]:
    """Serve a public page at `/` and a protected one at `/members/`; return the address."""
    executable = program("apache2", "usr/sbin")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # Apache reads its pages as another user where the tests run as root
        for path, title in (("pages/index.html", "Everybody"), ("pages/members/index.html", "Members")):
            page = folder / path
            page.parent.mkdir(exist_ok=True, parents=True)
            page.write_text(f"<!doctype html><title>{title}</title><h1>{title}</h1>")
        modules = "\n".join(
            f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so" for module in MODULES
        )
        text = CONFIGURATION.format(
            folder=folder, port=ports["apache"], user="www-data" if os.geteuid() == 0 else getpass.getuser(),
            modules=modules, issuer=hub_url, secret=SECRET, passphrase=secrets.token_hex(),
        )  # fmt: skip
        (folder / "apache.conf").write_text(text)
        server = subprocess.Popen([executable, "-d", name, "-f", folder / "apache.conf", "-D", "FOREGROUND"])
        try:
            yield started(f"http://127.0.0.1:{ports['apache']}", server)
        finally:
            end(server.pid, signal.SIGTERM)


def started(address: str, server: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 30
    while True:
        try:
            httpx.get(f"{address}/", timeout=5).raise_for_status()
            return address
        except httpx.TransportError:
            assert server.poll() is None, "Apache did not start"
            assert time.monotonic() < deadline, "Apache did not answer"
            time.sleep(0.05)


def test_apache_admits_person_and_signs_out(apache: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{apache}/members/")
    sign_in(page)
    page.wait_for_url(f"{apache}/members/")
    expect(page.get_by_role("heading", name="Members")).to_be_visible()
    answer = page.request.get(f"{apache}/members/")
    assert (answer.headers["x-person"], answer.headers["x-name"]) == (EMAIL, "Ada Lovelace")
    page.goto(f"{apache}/members/callback?logout={apache}/")
    page.wait_for_url(f"{apache}/")
    expect(page.get_by_role("heading", name="Everybody")).to_be_visible()
    page.goto(f"{apache}/members/")
    page.wait_for_url("**/login**")  # the provider's session has ended too
