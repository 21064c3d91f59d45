"""External services in the configuration file: secrets are encrypted, kept where the file omits them, and never exported."""

from __future__ import annotations

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.reencryption import reencrypt
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform.encryption import Encryption
from app.identity.platform.services import IdentityServices
from tests.support.services.identity_service import SECRET

pytestmark = pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
FILE = """
tenants:
  - name: acme
    settings: {{two_factor: optional, second_factors: {{push: true, duo: true}}}}
    push:
      region: eu-central-1
      app_name: Acme Keys
      android: {{enabled: true, platform_arn: "arn:aws:sns:eu-central-1:123456789012:app/GCM/acme"}}
      {secrets}
    duo: {{client_id: DIACME, api_host: api-acme.duosecurity.com, client_secret: {duo}}}
"""
NEXT = b"another secret of the tests, as long as the first"
SECRETS = "secrets: {access_key_id: AKIDACME, secret_access_key: hidden-key}"


def applied(services: IdentityServices, text: str, tmp_path: object) -> str:
    done = apply_configuration.apply(services, read(text.encode(), "acme.yaml", tmp_path))  # type: ignore[arg-type]  # a folder
    services.directory.clear_cache()
    return "\n".join(str(change) for change in done.changes)


def test_secrets_are_encrypted_retained_and_not_exported(own_services: IdentityServices, tmp_path: object) -> None:
    applied(own_services, FILE.format(secrets=SECRETS, duo="hidden-secret"), tmp_path)
    tenant = own_services.directory.by_name("acme")
    assert tenant is not None
    assert tenant.settings.push is not None
    assert tenant_secrets.secrets_of(own_services.encryption, tenant, "push")["secret_access_key"] == "hidden-key"
    assert tenant_secrets.secrets_of(own_services.encryption, tenant, "duo") == {"client_secret": "hidden-secret"}
    changes = applied(own_services, FILE.format(secrets="", duo="another-secret"), tmp_path)
    assert "secrets of push, duo or connections" in changes
    assert "another-secret" not in changes
    tenant = own_services.directory.by_name("acme")
    assert tenant is not None
    assert tenant_secrets.secrets_of(own_services.encryption, tenant, "push")["secret_access_key"] == "hidden-key"
    text = export(own_services, "acme")
    assert "app_name: Acme Keys" in text
    assert not any(secret in text for secret in ("hidden-key", "hidden-secret", "another-secret", "AKIDACME"))
    assert applied(own_services, text, tmp_path).count("unchanged") >= 1
    tenant = own_services.directory.by_name("acme")
    assert tenant is not None
    assert tenant_secrets.secrets_of(own_services.encryption, tenant, "duo") == {"client_secret": "another-secret"}


def test_problem_report_contains_no_secret(own_services: IdentityServices, tmp_path: object) -> None:
    text = FILE.format(secrets="secrets: {access_key: hidden-key}", duo="x").replace("eu-central-1\n", "evil.example\n")
    with pytest.raises(ConfigurationError) as refused:
        applied(own_services, text, tmp_path)
    report = "\n".join(str(problem) for problem in refused.value.problems)
    assert "region" in report
    assert "hidden-key" not in report


CONNECTIONS = """
tenants:
  - name: acme
    settings: {{account_linking: false}}
    connections:
      google: {{key: acme.apps.example, secret: {google}}}
{more}
"""
COMPANY = """
      company: {key: acme, issuer: "https://id.example.com", secret: hidden-company}
"""


def secrets_of_connections(services: IdentityServices) -> dict[str, str]:
    tenant = services.directory.by_name("acme")
    assert tenant is not None
    return dict(tenant_secrets.secrets_of(services.encryption, tenant, tenant_secrets.CONNECTIONS))


def test_connection_secrets_follow_their_connections(own_services: IdentityServices, tmp_path: object) -> None:
    applied(own_services, CONNECTIONS.format(google="hidden-google", more=COMPANY), tmp_path)
    both = {"google": "hidden-google", "company": "hidden-company"}
    assert secrets_of_connections(own_services) == both
    text = export(own_services, "acme")
    assert "id.example.com" in text
    assert "hidden" not in text
    assert "unchanged" in applied(own_services, text, tmp_path).partition("\n")[0]
    assert secrets_of_connections(own_services) == both
    own_services.encryption = Encryption((NEXT, SECRET))
    assert reencrypt(own_services) == 2  # the other one is the API secret
    own_services.encryption = Encryption((NEXT,))
    own_services.directory.clear_cache()
    assert secrets_of_connections(own_services) == both
    changes = applied(own_services, CONNECTIONS.format(google="hidden-other", more=""), tmp_path)
    assert "settings.connections.company: {'key': 'acme', 'issuer': 'https://id.example.com'} -> default" in changes
    assert "secrets of push, duo or connections: changed" in changes
    assert "hidden" not in changes
    assert secrets_of_connections(own_services) == {"google": "hidden-other"}
    applied(own_services, CONNECTIONS.format(google="null", more=""), tmp_path)
    assert secrets_of_connections(own_services) == {}
    tenant = own_services.directory.by_name("acme")
    assert tenant is not None
    assert list(tenant.settings.connections) == ["google"]
    assert tenant.settings.account_linking is False
