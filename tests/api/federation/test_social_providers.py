"""A tenant's program sets up social providers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.contract.federation.identity_linking_operations import PROVIDERS
from app.identity.directory.tenants.keys import tenant_secrets
from app.kit.resources.resource import MASKED
from tests.support.operations.resource_samples import private_key
from tests.support.operations.resources import manager, named
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

AT = "/v2/manage/providers"
APPLE = {"Certificate": "", "KeyIdentifier": "ABC123DEFG", "ServiceId": "s", "BundleId": "b", "TeamId": "DEF123GHIJ"}
INSTANCES = {"live": "organizations", "salesforce": "acme.my.salesforce.com"}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    token = machine(tenant, "all")
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


def offered(tenant: TenantServer) -> list[str]:
    """Return the providers that appinfo lists."""
    tenant.services.directory.clear_cache()
    shown = answered(tenant.send("GET", "/ciam/appinfo", with_secret=False))
    return [item["Name"] for item in shown["SocialSchema"]["Providers"]]


@pytest.mark.both_databases
def test_every_provider_of_the_interface_is_stored(send: Ask) -> None:
    listed = answered(send("GET", AT))["Data"]
    assert sorted(item["Provider"] for item in listed) == sorted(name.upper() for name in PROVIDERS)
    for name in sorted(PROVIDERS):
        path = f"{AT}/{name.upper()}"
        body = {
            "Key": f"key of {name}",
            "Secret": "s",
            "IsActive": True,
            "ExtraField1": INSTANCES.get(name, "one"),
            "ExtraField2": "two",
        }
        expected = {
            **body, "Provider": name.upper(), "Secret": MASKED, "ExtraField2": MASKED if name == "twitter" else "two",
            "AppleSecretConfiguration": {"Certificate": None, "KeyIdentifier": "", "ServiceId": "", "BundleId": "", "TeamId": ""},
        }  # fmt: skip
        assert answered(send("PUT", path, body)) == expected == answered(send("GET", path)), name
    assert refused(send("PUT", f"{AT}/MYSPACE", {"Key": "k"})) == (400, 7900)


def test_apples_key_is_stored_encrypted(tenant: TenantServer, send: Ask) -> None:
    pem = private_key()
    body = {"Key": "k", "Secret": "s", "AppleSecretConfiguration": {**APPLE, "Certificate": pem}}
    shown = answered(send("PUT", f"{AT}/APPLE", body))["AppleSecretConfiguration"]
    assert shown == {**APPLE, "Certificate": MASKED}
    assert secrets_of(tenant) == {"apple": "s", "apple.apple": pem}
    answered(send("PUT", f"{AT}/APPLE", {"AppleSecretConfiguration": {"Certificate": MASKED, "TeamId": "T"}}))
    assert secrets_of(tenant) == {"apple": "s", "apple.apple": pem}
    answered(send("PUT", f"{AT}/APPLE", {"AppleSecretConfiguration": None}))
    assert secrets_of(tenant) == {"apple": "s"}


def test_second_secret_of_x_is_stored_encrypted(tenant: TenantServer, send: Ask) -> None:
    keys = {"Key": "client", "Secret": "s", "ExtraField1": "consumer", "ExtraField2": "consumer secret"}
    shown = answered(send("PUT", f"{AT}/TWITTER", keys))
    assert (shown["ExtraField1"], shown["ExtraField2"]) == ("consumer", MASKED)
    assert secrets_of(tenant) == {"twitter": "s", "twitter.consumer": "consumer secret"}
    found = tenant.services.directory.by_name(tenant.name)
    assert found is not None
    assert found.settings.connections["twitter"].extra_field2 == ""
    answered(send("PUT", f"{AT}/TWITTER", shown))
    answered(send("PUT", f"{AT}/TWITTER", {"IsActive": True}))
    assert secrets_of(tenant) == {"twitter": "s", "twitter.consumer": "consumer secret"}
    assert answered(send("PUT", f"{AT}/TWITTER", {"ExtraField2": ""}))["ExtraField2"] == ""
    assert secrets_of(tenant) == {"twitter": "s"}


def secrets_of(tenant: TenantServer) -> dict[str, str]:
    tenant.services.directory.clear_cache()
    found = tenant.services.directory.by_name(tenant.name)
    assert found is not None
    return dict(tenant_secrets.secrets_of(tenant.services.encryption, found, tenant_secrets.CONNECTIONS))


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("APPLE", {"Certificate": "%%"}),
        ("APPLE", {"Certificate": "-----BEGIN PRIVATE KEY-----\nMIIC\n-----END PRIVATE KEY-----"}),
        ("APPLE", {"TeamId": "x" * 101}),
        ("GOOGLE", {"TeamId": "T"}),
        ("GITHUB", {"Certificate": private_key()}),
    ],
    ids=["no PEM", "broken PEM", "too long", "of another provider", "key of another provider"],
)
def test_wrong_apple_configuration_is_refused(send: Ask, name: str, members: dict[str, str]) -> None:
    assert refused(send("PUT", f"{AT}/{name}", {"Key": "k", "AppleSecretConfiguration": members})) == (400, 7900)
    assert answered(send("GET", f"{AT}/{name}"))["Key"] == ""


@pytest.mark.parametrize(
    ("name", "instance"),
    [
        ("LIVE", "evil.example"), ("LIVE", "common/../x"), ("SALESFORCE", "salesforce.com.evil.example"), ("SALESFORCE", "evil.example/"),
        ("SALESFORCE", "acme.my.salesforce.com@evil.example"), ("SALESFORCE", "login.salesforce.com:8443"),
    ],
)  # fmt: skip
def test_host_that_is_not_the_providers_is_refused(send: Ask, name: str, instance: str) -> None:
    answer = send("PUT", f"{AT}/{name}", {"Key": "k", "ExtraField1": instance})
    assert refused(answer) == (400, 7900)
    assert "ExtraField1" in answer.get_json()["Description"]
    assert answered(send("GET", f"{AT}/{name}"))["Key"] == ""


def test_every_provider_is_offered_with_its_key(tenant: TenantServer, send: Ask) -> None:
    for name in PROVIDERS:
        answered(send("PUT", f"{AT}/{name.upper()}", {"Key": "k", "Secret": "s", "IsActive": True}))
    assert sorted(offered(tenant)) == sorted(PROVIDERS - {"apple"}), "Apple's secret cannot be signed yet"
    answered(send("PUT", f"{AT}/APPLE", {"AppleSecretConfiguration": {**APPLE, "Certificate": private_key()}}))
    assert sorted(offered(tenant)) == sorted(PROVIDERS)


def test_switched_off_provider_is_not_in_appinfo(tenant: TenantServer, send: Ask) -> None:
    answered(send("PUT", f"{AT}/GITHUB", {"Key": "k", "IsActive": True}))
    assert offered(tenant) == ["github"]
    answered(send("PUT", f"{AT}/GITHUB", {"IsActive": False}))
    assert offered(tenant) == []


def test_file_states_the_further_members(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("social_providers"))
    pem = private_key().replace("\n", "\\n")
    text = f"""
tenants:
  - name: {manage.tenant.name}
    connections:
      yahoo: {{key: k, extra_field1: one}}
      apple: {{key: k, apple: {{team_id: T}}, apple_certificate: "{pem}"}}
      twitter: {{key: k, extra_field1: c, consumer_secret: hidden-consumer}}
"""
    manage.apply(text)
    assert secrets_of(manage.tenant) == {"apple.apple": private_key(), "twitter.consumer": "hidden-consumer"}
    listed = {item["Provider"]: item for item in manage.listed()}
    assert (listed["YAHOO"]["ExtraField1"], listed["APPLE"]["AppleSecretConfiguration"]["TeamId"]) == ("one", "T")
    exported = manage.export()
    assert "extra_field1: one" in exported
    assert "PRIVATE KEY" not in exported
    assert "hidden-consumer" not in exported
    manage.apply(
        text.replace("apple: {key", "other: {issuer: 'https://idp.example', key").replace("apple: {team_id: T}, ", "")
    )
    assert secrets_of(manage.tenant) == {"other.apple": private_key(), "twitter.consumer": "hidden-consumer"}, (
        "the secrets of a removed connection go with it"
    )
