"""SimpleSAMLphp on this machine as an identity provider, in PHP's own server: its pages ask for the password and sign out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.saml.service_provider import own_key
from tests.support.services.servers import NO_AUTHORITIES, PATIENCE_SECONDS, TestServer, program

INSTALLED = Path("/usr/share/simplesamlphp")
NAME, PASSWORD = "mina", "dear mina 7"
_CONFIGURATION = """<?php
$config = [
  'baseurlpath' => '{url}/', 'certdir' => '{folder}/', 'loggingdir' => '{folder}/', 'datadir' => '{folder}/',
  'tempdir' => '{folder}/', 'metadatadir' => '{folder}/', 'attributenamemapdir' => '/etc/simplesamlphp/attributemap/',
  'technicalcontact_name' => 'Nobody', 'technicalcontact_email' => 'nobody@idp.example', 'timezone' => 'UTC',
  'secretsalt' => 'a salt of the tests', 'auth.adminpassword' => 'a password of the tests',
  'logging.handler' => 'file', 'logging.level' => 7, 'logging.logfile' => 'messages',
  'enable.saml20-idp' => true, 'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true],
  'session.cookie.secure' => false, 'store.type' => 'phpsession', 'session.phpsession.savepath' => '{folder}',
  'metadata.sources' => [['type' => 'flatfile'], ['type' => 'xml', 'file' => '{folder}/sp.xml']],
];
"""
_PEOPLE = """<?php
$config = ['people' => ['exampleauth:UserPass', '{name}:{password}' => [
  'uid' => ['mina-1'], 'mail' => ['{email}'], 'givenName' => ['Mina'], 'sn' => ['Härker'],
  'memberOf' => ['editors', 'staff']]]];
"""
_PROVIDER = """<?php
$metadata['{url}/idp'] = [
  'host' => '__DEFAULT__', 'auth' => 'people', 'privatekey' => 'key.pem', 'certificate' => 'certificate.pem',
  'SingleSignOnServiceBinding' => ['{binding}'], 'SingleLogoutServiceBinding' => ['{binding}'],
  'NameIDFormat' => '{persistent}', 'redirect.sign' => true, 'redirect.validate' => true, 'validate.authnrequest' => true,
  'saml20.sign.response' => {signs_response}, 'saml20.sign.assertion' => true,
  'assertion.encryption' => {encrypts},
  'authproc' => [3 => ['class' => 'saml:AttributeNameID', 'attribute' => 'uid', 'Format' => '{persistent}']],
];
"""
_PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"


@dataclass
class SimpleSamlPhp(TestServer):
    """The provider, whose metadata states one binding."""

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def domain(self) -> str:
        return f"globex{self.port}.example"

    @property
    def email(self) -> str:
        """The address of its person, whose name is Mina Härker."""
        return f"mina@{self.domain}"

    @property
    def metadata_url(self) -> str:
        return f"{self.url}/saml2/idp/metadata.php"

    @property
    def sign_out_url(self) -> str:
        """The address at which people sign out here."""
        return f"{self.url}/saml2/idp/SingleLogoutService.php?ReturnTo={self.url}/logout.php"

    def start(self, binding: str, *, encrypts: bool) -> None:
        key = own_key("simplesamlphp")
        facts = {
            "url": self.url, "folder": self.folder, "name": NAME, "password": PASSWORD, "email": self.email, "binding": binding,
            "persistent": _PERSISTENT, "encrypts": str(encrypts).lower(), "signs_response": str(not encrypts).lower(),
        }  # fmt: skip
        files = {"config.php": _CONFIGURATION, "authsources.php": _PEOPLE, "saml20-idp-hosted.php": _PROVIDER}
        for name, text in files.items():
            (self.folder / name).write_text(text.format(**facts))
        (self.folder / "key.pem").write_text(key.private_key)
        (self.folder / "certificate.pem").write_text(key.certificate)
        self.trust(b'<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"/>')
        command = [program("php"), "-S", f"127.0.0.1:{self.port}", "-t", str(INSTALLED / "www")]
        environ = {**os.environ, "SIMPLESAMLPHP_CONFIG_DIR": str(self.folder)}
        self.launch(command, self._is_ready, httpx.HTTPError, env=environ)

    def trust(self, metadata: bytes) -> None:
        """Let the service provider with this metadata in."""
        (self.folder / "sp.xml").write_bytes(metadata)

    def _is_ready(self) -> None:
        httpx.get(self.metadata_url, timeout=PATIENCE_SECONDS, verify=NO_AUTHORITIES).raise_for_status()


@contextmanager
def simplesamlphp(binding: str, *, encrypts: bool = False) -> Iterator[SimpleSamlPhp]:
    """Run the provider until the block ends.

    Args:
        binding: the only one by which it takes requests and logout messages.
        encrypts: whether it encrypts the assertion, by AES-CBC, which is all that version 1 knows; if not, it signs the response too.
    """
    with tempfile.TemporaryDirectory() as name:
        server = SimpleSamlPhp(Path(name))
        try:
            server.start(binding, encrypts=encrypts)
            yield server
        finally:
            server.stop()
