"""Each field of a built-in provider is in force at a sign-in, whether the API or a configuration file sets it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from app.contract.federation.errors import ConnectionNotConfigured, UnknownConnection
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken, ConnectionRefused
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.accounts.social_accounts import doing
from tests.support.fakes.identity_provider import ADA, CLIENT, SECRET, FakeProvider
from tests.support.fakes.native_apps import FREE_FORM, PATH, NativeUpstream
from tests.support.fakes.openid_upstreams import APPLE, client_secret_claims
from tests.support.operations.resource_samples import private_key
from tests.support.plugins.network import NetworkClosed
from tests.support.refused_answers.providers import connected
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

pytestmark = on_one_database
FIRST_KEY, OTHER_KEY = private_key(), private_key()
BY_FILE = {
    "IsActive": "is_active", "Key": "key", "Secret": "secret", "ExtraField1": "extra_field1", "ExtraField2": "consumer_secret",
    "Certificate": "apple_certificate", "KeyIdentifier": "key_identifier", "ServiceId": "service_id", "BundleId": "bundle_id",
    "TeamId": "team_id",
}  # fmt: skip
"""The keys of the file by the fields of the operation; X's second secret alone has a key of its own."""
APPLE_MEMBERS = ("KeyIdentifier", "ServiceId", "BundleId", "TeamId")


class SocialProvider:
    """A tenant with a provider whose addresses a configuration file states, and which the API or the file changes."""

    def __init__(self, tenant: TenantServer, fake: FakeProvider, name: str, *, is_by_api: bool) -> None:
        self.tenant, self.fake, self.name, self.is_by_api = tenant, fake, name, is_by_api
        self.upstream = connected(name, fake)
        self.connection: dict[str, Any] = {key: value for key, value in self.upstream.connection.items() if value}
        self.apply()

    def change(self, field: str, value: Any) -> None:
        if not self.is_by_api:
            self._change_file(BY_FILE[field], value, is_of_apple=field in APPLE_MEMBERS)
            return
        is_of_apple = field in (*APPLE_MEMBERS, "Certificate")
        body = {"AppleSecretConfiguration": {field: value}} if is_of_apple else {field: value}
        token = machine(self.tenant, "all")
        answered(ask(self.tenant, token, "PUT", f"/v2/manage/providers/{self.name.upper()}", body))
        self.tenant.services.directory.clear_cache()

    def _change_file(self, key: str, value: Any, *, is_of_apple: bool) -> None:
        if is_of_apple:
            self.connection["apple"] = {**self.connection.get("apple", {}), key: value}
        else:
            self.connection[key] = value
        self.apply()

    def apply(self) -> None:
        applied(
            self.tenant.services,
            json.dumps({"tenants": [{"name": self.tenant.name, "connections": {self.name: self.connection}}]}),
        )
        self.tenant.services.directory.clear_cache()

    def token_form(self) -> dict[str, str]:
        """Return what the provider's token endpoint gets at a sign-in in the browser."""
        self.fake.received.clear()
        address = led(self.tenant, self.name)
        self.fake.sent_out["code"] = {**query_of(address), "who": ADA}
        with suppress(ConnectionBroken, ConnectionRefused):
            finished(self.tenant, {"code": "code", "state": query_of(address)["state"]})
        path = getattr(self.upstream.upstream, "token_path", "/token")
        return next(dict(request.form) for request in self.fake.received if request.path == path)

    def is_offered(self) -> bool:
        try:
            with doing(self.tenant) as call:
                offered_connections.find(call, self.name)
        except (ConnectionNotConfigured, UnknownConnection):
            return False
        return True

    def app(self, **query: str) -> int:
        """Return the status of a sign-in of an app."""
        sent: dict[str, Any] = {"refresh_token": "any", **query}
        return self.tenant.send("GET", f"{PATH}/{self.name}", with_secret=True, **sent).status_code


NewProvider = Callable[[str], SocialProvider]


@pytest.fixture(params=[True, False], ids=["API", "file"])
def new_provider(
    request: pytest.FixtureRequest, new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> NewProvider:
    def make(name: str) -> SocialProvider:
        tenant = new_tenant_server(registration_form=FREE_FORM)
        return SocialProvider(tenant, fake_provider, name, is_by_api=request.param)

    return make


def test_provider_is_offered_while_active(new_provider: NewProvider) -> None:
    github = new_provider("github")
    assert github.is_offered()
    github.change("IsActive", False)
    assert not github.is_offered()


def test_key_is_the_client_id(new_provider: NewProvider) -> None:
    github = new_provider("github")
    assert query_of(led(github.tenant, "github"))["client_id"] == CLIENT
    github.change("Key", "another")
    assert query_of(led(github.tenant, "github"))["client_id"] == "another"


def test_secret_authenticates_the_client(new_provider: NewProvider) -> None:
    github = new_provider("github")
    github.change("Secret", "the secret of GitHub")
    assert github.token_form()["client_secret"] == "the secret of GitHub"


def test_first_extra_field_is_the_host_of_salesforce(new_provider: NewProvider) -> None:
    salesforce = new_provider("salesforce")
    del salesforce.connection["issuer"]
    salesforce.apply()
    salesforce.change("ExtraField1", "acme.my.salesforce.com")
    with pytest.raises(NetworkClosed, match=r"acme\.my\.salesforce\.com"):
        led(salesforce.tenant, "salesforce")


def test_extra_fields_of_x_are_its_second_key_pair(new_provider: NewProvider) -> None:
    twitter = new_provider("twitter")
    native = NativeUpstream(twitter.fake)
    twitter.connection |= {"userinfo_endpoint": f"{twitter.fake.url}/x", "native_only": True}
    twitter.apply()
    twitter.change("ExtraField1", CLIENT)
    assert twitter.app(**native.twitter_token()) == 403, "without its secret"
    twitter.change("ExtraField2", SECRET)
    assert twitter.app(**native.twitter_token()) == 200
    twitter.change("ExtraField1", "another")
    assert twitter.app(**native.twitter_token()) == 403


@pytest.mark.parametrize(("field", "claim"), [("TeamId", "iss"), ("ServiceId", "sub")])
def test_apples_ids_are_in_its_client_secret(new_provider: NewProvider, field: str, claim: str) -> None:
    apple = new_provider("apple")
    apple.change("Certificate", FIRST_KEY)
    for name, value in (("TeamId", "DEF123GHIJ"), ("KeyIdentifier", APPLE["key_identifier"]), (field, "another")):
        apple.change(name, value)
    assert client_secret_claims(apple.token_form()["client_secret"], FIRST_KEY)[claim] == "another"


def test_apples_key_signs_under_its_identifier(new_provider: NewProvider) -> None:
    apple = new_provider("apple")
    apple.change("Certificate", OTHER_KEY)
    apple.change("KeyIdentifier", APPLE["key_identifier"])
    assert client_secret_claims(apple.token_form()["client_secret"], OTHER_KEY)["iss"] == APPLE["team_id"]
    apple.change("KeyIdentifier", "another")
    header = apple.token_form()["client_secret"].partition(".")[0]
    assert json.loads(urlsafe_b64decode(f"{header}=="))["kid"] == "another"


def test_apples_bundle_is_the_audience_of_apps(new_provider: NewProvider) -> None:
    apple = new_provider("apple")
    apple.fake.claims = {"nonce": None}
    native = NativeUpstream(apple.fake)
    apple.name = "applejwt"
    assert apple.app(id_token=native.id_token(aud="com.acme.app")) == 403
    apple.name = "apple"
    apple.change("BundleId", "com.acme.app")
    apple.name = "applejwt"
    assert apple.app(id_token=native.id_token(aud="com.acme.app")) == 200


def test_every_field_of_a_social_provider_is_covered(new_provider: NewProvider) -> None:
    provider = new_provider("apple")
    token = machine(provider.tenant, "all")
    shown = answered(ask(provider.tenant, token, "GET", "/v2/manage/providers/APPLE"))
    covered = {*BY_FILE} - {*APPLE_MEMBERS, "Certificate"}
    assert shown.keys() == covered | {"Provider", "AppleSecretConfiguration"}
    assert shown["AppleSecretConfiguration"].keys() == {*APPLE_MEMBERS, "Certificate"}
