"""A server behind a real Apache that terminates TLS and asks for client certificates, configured as docs/fapi.md says."""

from __future__ import annotations

import getpass
import os
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from cryptography import x509

from tests.conformance.conftest import started, wait_for
from tests.conformance.provider import PASSWORD
from tests.support.oauth.client_certificates import Certificate, certificate
from tests.support.services.servers import end, free_port, program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fapi.md"
MODULES = ["mpm_event", "authz_core", "headers", "proxy", "proxy_http", "socache_shmcb", "ssl"]
SERVER = """
ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/log"
LogLevel warn
User {user}
{modules}
"""
TENANT = """
tenants:
  - name: conformance
    settings: {{email_verification: optional}}
    applications:
{applications}
    accounts:
      - {{email: ada@example.com, password: {password}, email_verified: true, first_name: Ada, last_name: Lovelace}}
"""


@dataclass(frozen=True)
class Proxied:
    """An installation behind the proxy, and the certificates of its world."""

    folder: Path
    port: int
    plain_port: int
    authority: Certificate
    server: Certificate

    @property
    def hub_url(self) -> str:
        return f"https://conformance.localhost:{self.port}"

    @property
    def mtls_url(self) -> str:
        return f"https://conformance.mtls.localhost:{self.port}"

    def trust(self, presented: Certificate | None = None) -> ssl.SSLContext:
        """Return what a client's connections trust, and the certificate that they present."""
        context = ssl.create_default_context(cadata=self.server.pem)
        if presented is not None:
            file = self.folder / f"{presented.certificate.serial_number}.pem"
            file.write_text(presented.pem + presented.key_pem)
            context.load_cert_chain(file)
        return context

    def client(self, presented: Certificate | None = None, address: str | None = None) -> httpx.Client:
        """Return a client whose connections present this certificate, and come from this address."""
        transport = httpx.HTTPTransport(verify=self.trust(presented), local_address=address)
        return httpx.Client(transport=transport, timeout=30)


@contextmanager
def proxied(folder: Path, applications: str, authority: Certificate) -> Iterator[Proxied]:
    """Serve a tenant with these applications behind Apache, which knows the authority of client certificates."""
    hosts = [x509.DNSName(f"conformance.{name}") for name in ("localhost", "mtls.localhost")]
    server = certificate("CN=conformance.localhost", hosts)
    found = Proxied(folder, free_port(), free_port(), authority, server)
    domain = f"localhost:{found.port}"
    facts = {"DATA_DIR": str(folder), "HUB_DOMAIN": domain, "SCHEME": "https", **_settings(domain)}
    environment = {**os.environ, **{f"GATEHOUSE_{name}": value for name, value in facts.items()}}
    (folder / "tenant.yaml").write_text(TENANT.format(applications=applications, password=PASSWORD))
    with started(environment, folder / "tenant.yaml", found.plain_port) as (is_running, log):
        proxy = subprocess.Popen(_apache(found), stdout=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{found.plain_port}/health/ready", is_running, log)
            address = f"{found.hub_url}/.well-known/openid-configuration"
            wait_for(address, lambda: proxy.poll() is None, folder / "log", found.trust())
            yield found
        finally:
            end(proxy.pid, signal.SIGTERM)


def _block(language: str, text: str) -> str:
    """Return the page's one block of code in this language that has the text."""
    blocks = [body for kind, body in re.findall(r"```(\w*)\n(.*?)```", PAGE.read_text(), re.DOTALL) if kind == language]
    (found,) = [body for body in blocks if text in body]
    return str(found)


def _settings(domain: str) -> dict[str, str]:
    """Return the settings that the page gives, for this domain."""
    lines = _block("", "GATEHOUSE_MTLS_DOMAIN").replace("id.example.com", domain).split()
    return dict(line.removeprefix("GATEHOUSE_").split("=", 1) for line in lines)


def _apache(found: Proxied) -> list[str]:
    """Write the page's configuration for this port and these files; return the command that serves it."""
    folder, tls = found.folder, found.folder / "tls"
    folder.chmod(0o755)
    tls.mkdir()
    (tls / "server.pem").write_text(found.server.pem)
    (tls / "server.key").write_text(found.server.key_pem)
    (tls / "client-ca.pem").write_text(found.authority.pem)
    shown = _block("apache", "SSLVerifyClient").replace("id.example.com", "localhost")
    shown = shown.replace("*:443", f"127.0.0.1:{found.port}").replace("/etc/gatehouse/tls", str(tls))
    shown = shown.replace("127.0.0.1:8000", f"127.0.0.1:{found.plain_port}")
    modules = "\n".join(f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so" for module in MODULES)
    user = "www-data" if os.geteuid() == 0 else getpass.getuser()
    (folder / "apache.conf").write_text(
        SERVER.format(folder=folder, port=found.port, user=user, modules=modules) + shown
    )
    return [program("apache2", "usr/sbin"), "-d", str(folder), "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
