"""Each key of a connection in a configuration file acts: what a sign-in does without it differs from what it does with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.contract.federation.connections import AppleSettings, ConnectionFile
from app.contract.federation.errors import ConnectionNotConfigured, UnknownConnection
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from app.identity.directory.identity_provider import ProviderIdentity
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.accounts.social_accounts import doing, linked_to
from tests.support.accounts.stored_tokens import entries
from tests.support.fakes.identity_provider import ADA, CLIENT, SECRET, FakeProvider
from tests.support.fakes.native_apps import FREE_FORM, PATH, NativeUpstream
from tests.support.operations.cited_tests import undefined
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

_REQUESTS = "api/federation/test_provider_requests.py"
_SOCIAL = "api/federation/test_social_provider_fields.py"
_DOMAINS = "pages/federation/test_provider_domains.py"
ELSEWHERE = {
    "domain": (_DOMAINS, "test_domain_leads_to_the_provider"),
    "enable_auto_look_up": (_DOMAINS, "test_domain_leads_to_the_provider"),
    "list_in_interface": (_DOMAINS, "test_unlisted_provider_has_no_button"),
    "authorization_parameters": (_REQUESTS, "test_further_parameters_lead_to_the_provider"),
    "token_method": (_REQUESTS, "test_code_is_exchanged_by_get"),
    "access_token_parameter": (_REQUESTS, "test_access_token_is_in_the_named_parameter"),
    "profile_parameters": (_REQUESTS, "test_profile_request_has_further_parameters"),
    "profile_headers": (_REQUESTS, "test_profile_request_has_further_headers"),
    "extra_field1": (_SOCIAL, "test_extra_fields_of_x_are_its_second_key_pair"),
    "consumer_secret": (_SOCIAL, "test_extra_fields_of_x_are_its_second_key_pair"),
    "apple_certificate": (_SOCIAL, "test_apples_key_signs_under_its_identifier"),
    "apple.key_identifier": (_SOCIAL, "test_apples_key_signs_under_its_identifier"),
    "apple.service_id": (_SOCIAL, "test_apples_ids_are_in_its_client_secret"),
    "apple.team_id": (_SOCIAL, "test_apples_ids_are_in_its_client_secret"),
    "apple.bundle_id": (_SOCIAL, "test_apples_bundle_is_the_audience_of_apps"),
}
"""Keys that other tests apply by a file, too."""


@dataclass
class AppliedConnection:
    """A tenant whose only connection a configuration file states."""

    tenant: TenantServer
    fake: FakeProvider
    name: str = "partner"

    def apply(self, connection: dict[str, Any]) -> None:
        stated = {"secret": SECRET, **connection}
        text = json.dumps({"tenants": [{"name": self.tenant.name, "connections": {self.name: stated}}]})
        applied(self.tenant.services, text)
        self.tenant.services.directory.clear_cache()
        self.fake.received.clear()

    def query(self) -> dict[str, str]:
        """Return the parameters of the authorization request."""
        return query_of(led(self.tenant, self.name))

    def identity(self) -> ProviderIdentity:
        return finished(self.tenant, self.fake.signs_in(led(self.tenant, self.name)))[0]

    def outcome(self) -> str:
        """Return the subject of a sign-in on a page, or how it ends."""
        try:
            return self.identity().subject
        except ConnectionBroken:
            return "broken"

    def token_request(self) -> Any:
        self.identity()
        return next(item for item in self.fake.received if item.path == "/token")

    def title(self) -> str:
        with doing(self.tenant) as call:
            return offered_connections.find(call, self.name).title

    def is_offered(self) -> bool:
        try:
            return bool(self.title())
        except (ConnectionNotConfigured, UnknownConnection):
            return False

    def app(self, provider: str, **query: Any) -> int:
        """Return 200 for a sign-in of an app, or the code of the refusal."""
        answer = self.tenant.send("GET", f"{PATH}/{provider}", refresh_token="any", **query)
        return 200 if answer.status_code == 200 else refused(answer)[1]


def _pkce(at: AppliedConnection) -> tuple[bool, bool]:
    at.fake.needs_pkce = "code_challenge" in at.query()
    return at.fake.needs_pkce, "code_verifier" in at.token_request().form


def _client_authentication(at: AppliedConnection) -> tuple[bool, bool]:
    request = at.token_request()
    return "client_secret" in request.form, request.headers.get("Authorization", "").startswith("Basic ")


def _listed_email(at: AppliedConnection) -> tuple[str | None, bool]:
    at.fake.emails = [{"email": "ada@example.test", "primary": True, "verified": True}]
    identity = at.identity()
    return identity.email, identity.email_verified


def _accounts_with_tokens(at: AppliedConnection) -> int:
    uid = str(at.tenant.create()["Uid"])
    linked_to(at.tenant, uid, at.identity())
    return len(entries(at.tenant))


def _opens_known_account(at: AppliedConnection) -> bool:
    """Sign in by an app with the verified address of an account; return whether it is that account."""
    uid = at.tenant.create(Email=[{"Type": "Primary", "Value": ADA["email"]}], EmailVerified=True)["Uid"]
    native = NativeUpstream(at.fake)
    answer = at.tenant.send("GET", f"{PATH}/google", refresh_token="any", google_access_token=native.access_token())
    token = answered(answer)["access_token"]
    return bool(answered(at.tenant.send("GET", "/identity/v2/auth/account", bearer=token))["Uid"] == uid)


def _google_app(at: AppliedConnection) -> int:
    return at.app("google", google_access_token=NativeUpstream(at.fake).access_token())


def _limited_login(at: AppliedConnection) -> int:
    return at.app("facebookjwt", id_token=NativeUpstream(at.fake).id_token())


def _first_identity_of_x(at: AppliedConnection) -> int:
    return at.app("twitter", **NativeUpstream(at.fake).twitter_token())


Connection = Callable[[FakeProvider], dict[str, Any]]


def _oauth2(fake: FakeProvider) -> dict[str, Any]:
    return fake.oauth2()


def _openid(fake: FakeProvider) -> dict[str, Any]:
    return fake.openid()


def _google(fake: FakeProvider) -> dict[str, Any]:
    return fake.openid(introspection_endpoint=f"{fake.url}/tokeninfo")


def _facebook(fake: FakeProvider) -> dict[str, Any]:
    return {
        **fake.oauth2(userinfo_endpoint=f"{fake.url}/me"), "id_token_issuer": fake.url, "jwks_endpoint": f"{fake.url}/keys",
    }  # fmt: skip


def _x(fake: FakeProvider) -> dict[str, Any]:
    return {
        "key": "of OAuth 2.0", "native_only": True, "userinfo_endpoint": f"{fake.url}/x", "claims": {"subject": "id_str"},
        "extra_field1": CLIENT,
    }  # fmt: skip


@dataclass(frozen=True)
class KeyCase:
    """What a connection with another value of a key changes: `seen` returns `before`, and then `after`."""

    connection: Connection
    value: Any
    """The other value; a function of the provider where it is an address."""
    seen: Callable[[AppliedConnection], object]
    before: object
    after: object
    name: str = "partner"

    def value_at(self, fake: FakeProvider) -> Any:
        return self.value(fake) if callable(self.value) else self.value


def _at(path: str) -> Callable[[FakeProvider], str]:
    return lambda fake: f"{fake.url}{path}"


_outcome = AppliedConnection.outcome
_A_FORM, _BASIC = (True, False), (False, True)
CASES = {
    "key": KeyCase(_oauth2, "another", lambda at: at.query()["client_id"], CLIENT, "another"),
    "secret": KeyCase(
        _oauth2, "another secret", lambda at: at.token_request().form["client_secret"], SECRET, "another secret",
    ),
    "is_active": KeyCase(_oauth2, False, AppliedConnection.is_offered, True, False),
    "preset": KeyCase(_oauth2, "github", lambda at: at.identity().profile.get("NickName"), None, "ada"),
    "title": KeyCase(_oauth2, "Partner AG", AppliedConnection.title, "partner", "Partner AG"),
    "issuer": KeyCase(_openid, _at("/elsewhere"), _outcome, "ada-1815", "broken"),
    "authorization_endpoint": KeyCase(
        _oauth2, "https://other.example/in", lambda at: urlsplit(led(at.tenant, at.name)).hostname, "provider.localhost", "other.example",
    ),
    "token_endpoint": KeyCase(_oauth2, _at("/elsewhere"), _outcome, "1815", "broken"),
    "userinfo_endpoint": KeyCase(_oauth2, _at("/elsewhere"), _outcome, "1815", "broken"),
    "emails_endpoint": KeyCase(_oauth2, _at("/user/emails"), _listed_email, (None, False), ("ada@example.test", True)),
    "introspection_endpoint": KeyCase(_openid, _at("/tokeninfo"), _google_app, 1223, 200, name="google"),
    "id_token_issuer": KeyCase(_facebook, "https://other.example", _limited_login, 200, 1232, name="facebook"),
    "jwks_endpoint": KeyCase(_facebook, _at("/elsewhere"), _limited_login, 200, 1000, name="facebook"),
    "native_only": KeyCase(_oauth2, True, AppliedConnection.is_offered, True, False),
    "token_endpoint_auth_method": KeyCase(_oauth2, "client_secret_basic", _client_authentication, _A_FORM, _BASIC),
    "pkce": KeyCase(_oauth2, False, _pkce, (True, True), (False, False)),
    "scope": KeyCase(_oauth2, "read:org", lambda at: at.query()["scope"], "read:user", "read:org"),
    "claims": KeyCase(
        _oauth2, {"subject": "login", "first_name": "name"}, lambda at: (at.outcome(), at.identity().profile.get("FirstName")),
        ("1815", None), ("ada", "Ada"),
    ),
    "trusts_email": KeyCase(_google, True, _opens_known_account, False, True, name="google"),
    "keep_provider_tokens": KeyCase(_openid, True, _accounts_with_tokens, 0, 1),
    "extra_field2": KeyCase(_x, SECRET, _first_identity_of_x, 1000, 200, name="twitter"),
}  # fmt: skip
"""By key, a connection and what the key changes there."""


@on_one_database
@pytest.mark.parametrize("key", CASES)
def test_key_of_a_connection_acts(new_tenant_server: NewTenantServer, fake_provider: FakeProvider, key: str) -> None:
    case = CASES[key]
    for value, expected in (({}, case.before), ({key: case.value_at(fake_provider)}, case.after)):
        at = AppliedConnection(new_tenant_server(registration_form=FREE_FORM), fake_provider, case.name)
        at.apply({**case.connection(fake_provider), **value})
        assert case.seen(at) == expected
    assert case.before != case.after


def test_every_key_of_a_connection_has_a_test() -> None:
    inner = {f"apple.{key}" for key in AppleSettings.model_fields}
    assert CASES.keys() | ELSEWHERE.keys() == (ConnectionFile.model_fields.keys() - {"apple"}) | inner
    assert undefined(ELSEWHERE.values()) == []
