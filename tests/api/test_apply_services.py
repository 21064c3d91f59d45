"""Services outside in the configuration file: their secrets are sealed, kept where none is stated, and never exported."""

from __future__ import annotations

import pytest

from app.identity.configuration import apply as applying
from app.identity.configuration.export import export
from app.identity.configuration.problems import ConfigurationError
from app.identity.configuration.reading import read
from app.identity.configuration.resealing import reseal
from app.identity.house import House
from app.identity.tenants import services
from app.identity.vault import Vault
from tests.support.house import SECRET

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


def applied(house: House, text: str, tmp_path: object) -> str:
    done = applying.apply(house, read(text.encode(), "acme.yaml", tmp_path))  # type: ignore[arg-type]  # a folder
    house.directory.forget()
    return "\n".join(str(change) for change in done.changes)


def test_they_are_sealed_kept_and_left_out(own_house: House, tmp_path: object) -> None:
    applied(own_house, FILE.format(secrets=SECRETS, duo="hidden-secret"), tmp_path)
    tenant = own_house.directory.by_name("acme")
    assert tenant is not None
    assert tenant.settings.push is not None
    assert services.secrets_of(own_house.vault, tenant, "push")["secret_access_key"] == "hidden-key"
    assert services.secrets_of(own_house.vault, tenant, "duo") == {"client_secret": "hidden-secret"}
    told = applied(own_house, FILE.format(secrets="", duo="another-secret"), tmp_path)
    assert "secrets of push, duo or connections" in told
    assert "another-secret" not in told
    tenant = own_house.directory.by_name("acme")
    assert tenant is not None
    assert services.secrets_of(own_house.vault, tenant, "push")["secret_access_key"] == "hidden-key"
    text = export(own_house, "acme")
    assert "app_name: Acme Keys" in text
    assert not any(secret in text for secret in ("hidden-key", "hidden-secret", "another-secret", "AKIDACME"))
    assert applied(own_house, text, tmp_path).count("unchanged") >= 1
    tenant = own_house.directory.by_name("acme")
    assert tenant is not None
    assert services.secrets_of(own_house.vault, tenant, "duo") == {"client_secret": "another-secret"}


def test_what_is_malformed_is_named_and_no_secret_is_repeated(own_house: House, tmp_path: object) -> None:
    text = FILE.format(secrets="secrets: {access_key: hidden-key}", duo="x").replace("eu-central-1\n", "evil.example\n")
    with pytest.raises(ConfigurationError) as refused:
        applied(own_house, text, tmp_path)
    said = "\n".join(str(one) for one in refused.value.problems)
    assert "region" in said
    assert "hidden-key" not in said


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


def secrets_of_connections(house: House) -> dict[str, str]:
    tenant = house.directory.by_name("acme")
    assert tenant is not None
    return dict(services.secrets_of(house.vault, tenant, services.CONNECTIONS))


def test_secrets_of_connections_come_stay_and_go_with_them(own_house: House, tmp_path: object) -> None:
    applied(own_house, CONNECTIONS.format(google="hidden-google", more=COMPANY), tmp_path)
    both = {"google": "hidden-google", "company": "hidden-company"}
    assert secrets_of_connections(own_house) == both
    text = export(own_house, "acme")
    assert "id.example.com" in text
    assert "hidden" not in text
    assert "unchanged" in applied(own_house, text, tmp_path).partition("\n")[0]
    assert secrets_of_connections(own_house) == both
    own_house.vault = Vault((NEXT, SECRET))
    assert reseal(own_house) == 2  # the API secret is the other
    own_house.vault = Vault((NEXT,))
    own_house.directory.forget()
    assert secrets_of_connections(own_house) == both
    told = applied(own_house, CONNECTIONS.format(google="hidden-other", more=""), tmp_path)
    assert "settings.connections.company: {'key': 'acme', 'issuer': 'https://id.example.com'} -> default" in told
    assert "secrets of push, duo or connections: others" in told
    assert "hidden" not in told
    assert secrets_of_connections(own_house) == {"google": "hidden-other"}
    applied(own_house, CONNECTIONS.format(google="null", more=""), tmp_path)
    assert secrets_of_connections(own_house) == {}
    tenant = own_house.directory.by_name("acme")
    assert tenant is not None
    assert list(tenant.settings.connections) == ["google"]
    assert tenant.settings.account_linking is False
