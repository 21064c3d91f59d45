"""Each field of a custom provider is in force at a sign-in, whether the API or a configuration file sets it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.contract.federation.errors import ConnectionNotConfigured, UnknownConnection
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.accounts.social_accounts import doing
from tests.support.fakes.identity_provider import CLIENT, FakeProvider
from tests.support.operations.interface_members import MEMBERS
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

pytestmark = on_one_database
NAME = "partner"
PAGES = Path(__file__).parents[2] / "pages"


def by_api(tenant: TenantServer, upstream: FakeProvider, **changed: Any) -> None:
    """Set up the OAuth provider by the operation."""
    body = {
        "ProviderName": NAME, "FriendlyProviderName": "Partner AG", "UserLoginEndpoint": f"{upstream.url}/authorize",
        "AccessTokenEndpoint": f"{upstream.url}/token", "UserprofileEndpoint": f"{upstream.url}/user", "ApplicationKey": CLIENT,
        "ApplicationSecret": "the client secret", "Scope": "user", "DataMap": {"ID": "id", "NickName": "login"},
    }  # fmt: skip
    method = "PUT" if is_offered(tenant) else "POST"
    answered(ask(tenant, machine(tenant, "all"), method, "/v2/manage/custom-providers/oauth", {**body, **changed}))


def by_file(tenant: TenantServer, upstream: FakeProvider, **changed: Any) -> None:
    """Set up the connection as a configuration file does."""
    connection = {
        **upstream.oauth2(title="Partner AG", scope="user"),
        "claims": {"subject": "id", "nick_name": "login"},
        **changed,
    }
    listed = ", ".join(
        f"{name}: {json.dumps(value)}" for name, value in {"secret": "the client secret", **connection}.items()
    )
    applied(
        tenant.services,
        f"tenants: [{{name: {tenant.name}, connections: {{{NAME}: {{{listed}}}}}}}]",
    )
    tenant.services.directory.clear_cache()


def token_request(tenant: TenantServer, upstream: FakeProvider) -> dict[str, str]:
    finished(tenant, upstream.signs_in(led(tenant, NAME)))
    return next(dict(item.form) for item in upstream.received if item.path == "/token")


def title(tenant: TenantServer) -> str:
    with doing(tenant) as call:
        return offered_connections.find(call, NAME).title


def is_offered(tenant: TenantServer) -> bool:
    try:
        title(tenant)
    except (ConnectionNotConfigured, UnknownConnection):
        return False
    return True


def identity_of(tenant: TenantServer, upstream: FakeProvider) -> Any:
    return finished(tenant, upstream.signs_in(led(tenant, NAME)))[0]


Effect = Callable[[TenantServer, FakeProvider], object]
OAUTH: dict[str, tuple[str, Any, Any, Effect]] = {
    "FriendlyProviderName": ("title", "Other", "Other", lambda tenant, _: title(tenant)),
    "IsActive": ("is_active", False, False, lambda tenant, _: is_offered(tenant)),
    "UserLoginEndpoint": (
        "authorization_endpoint", "https://other.example/in", "other.example", lambda tenant, _: urlsplit(led(tenant, NAME)).hostname,
    ),
    "ApplicationKey": ("key", "another", "another", lambda tenant, _: query_of(led(tenant, NAME))["client_id"]),
    "Scope": ("scope", "user mail", "user mail", lambda tenant, _: query_of(led(tenant, NAME))["scope"]),
    "ApplicationSecret": (
        "secret", "another secret", "another secret", lambda tenant, upstream: token_request(tenant, upstream)["client_secret"],
    ),
}  # fmt: skip
"""By field of the operation: the key of the file, another value, what it changes, and where that is seen."""
PLACES = {
    "AccessTokenEndpoint": ("token_endpoint", ConnectionBroken),
    "UserprofileEndpoint": ("userinfo_endpoint", ConnectionBroken),
}
SEEN_IN = {
    "ProviderName": "test_name_is_the_provider_of_the_identity", "DataMap": "test_map_fills_the_profile",
    "ResponseType": "test_constant_fields_are_those_of_the_request",
    "RequestTokenHttpMethod": "test_code_is_exchanged_by_get",
    "QueryParam": "test_profile_request_has_further_parameters",
    "Headers": "test_profile_request_has_further_headers",
    "AccessTokenParameterNameForApiAccess": "test_access_token_is_in_the_named_parameter",
    "ExtraParameterInRedirectToProvider": "test_further_parameters_lead_to_the_provider",
    "Domain": "test_domain_leads_to_the_provider",
    "EnableAutoLookUp": "test_domain_without_look_up_leads_nowhere",
    "ListInInterface": "test_unlisted_provider_has_no_button",
}  # fmt: skip
"""By field, the test that fails without it, here or in one of `SOURCES`."""


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.mark.parametrize("field", OAUTH)
def test_field_of_the_operation_is_in_force(acme: TenantServer, fake_provider: FakeProvider, field: str) -> None:
    _, value, expected, seen = OAUTH[field]
    by_api(acme, fake_provider)
    assert seen(acme, fake_provider) != expected
    fake_provider.received.clear()
    by_api(acme, fake_provider, **{field: value})
    assert seen(acme, fake_provider) == expected


@pytest.mark.parametrize("field", OAUTH)
def test_key_of_the_file_is_in_force(acme: TenantServer, fake_provider: FakeProvider, field: str) -> None:
    member, value, expected, seen = OAUTH[field]
    if member != "secret":  # a stored one is never overwritten
        by_file(acme, fake_provider)
        assert seen(acme, fake_provider) != expected
    by_file(acme, fake_provider, **{member: value})
    assert seen(acme, fake_provider) == expected


@pytest.mark.parametrize("set_up", [by_api, by_file])
@pytest.mark.parametrize("field", PLACES)
def test_address_is_the_one_that_is_asked(
    acme: TenantServer, fake_provider: FakeProvider, field: str, set_up: Callable[..., None]
) -> None:
    member, refusal = PLACES[field]
    name = field if set_up is by_api else member
    set_up(acme, fake_provider, **{name: f"{fake_provider.url}/elsewhere"})
    with pytest.raises(refusal):
        identity_of(acme, fake_provider)
    assert fake_provider.requests_to("/elsewhere") == 1


def test_name_is_the_provider_of_the_identity(acme: TenantServer, fake_provider: FakeProvider) -> None:
    by_api(acme, fake_provider)
    assert (identity_of(acme, fake_provider).provider, identity_of(acme, fake_provider).subject) == (NAME, "1815")


@pytest.mark.parametrize("set_up", [by_api, by_file])
def test_map_fills_the_profile(acme: TenantServer, fake_provider: FakeProvider, set_up: Callable[..., None]) -> None:
    fake_provider.userinfo = {"user": {"number": 7, "given": "Augusta"}}
    changed: dict[str, Any] = (
        {"DataMap": {"ID": "user.number", "FirstName": "user.given"}}
        if set_up is by_api
        else {"claims": {"subject": "user.number", "first_name": "user.given"}}
    )
    set_up(acme, fake_provider, **changed)
    identity = identity_of(acme, fake_provider)
    assert (identity.subject, identity.profile["FirstName"]) == ("7", "Augusta")


def test_constant_fields_are_those_of_the_request(acme: TenantServer, fake_provider: FakeProvider) -> None:
    by_api(acme, fake_provider, ResponseType="code")
    address = led(acme, NAME)
    assert query_of(address)["response_type"] == "code"
    finished(acme, fake_provider.signs_in(address))
    assert (
        next(item.form for item in fake_provider.received if item.path == "/token")["grant_type"]
        == "authorization_code"
    )


def test_every_field_of_an_oauth_provider_is_covered(acme: TenantServer, fake_provider: FakeProvider) -> None:
    by_api(acme, fake_provider)
    (shown,) = answered(ask(acme, machine(acme, "all"), "GET", "/v2/manage/custom-providers/oauth"))["Data"]
    assert shown.keys() == OAUTH.keys() | PLACES.keys() | SEEN_IN.keys()
    assert undefined(SEEN_IN.values()) == []


JWT: dict[str, str] = {
    "AppName": "test_jwt_of_stored_provider_signs_in_once",
    "IsActive": "test_inactive_or_unknown_jwt_provider_is_refused",
    "Algo": "test_algorithm_is_the_providers_own",
    "Key": "test_provider_of_another_tenant_is_unknown",
    "JWKSUrl": "test_key_set_that_does_not_answer_is_a_provider_error",
    "Mapping": "test_mapping_names_the_claims",
    "Issuer": "test_claim_that_breaks_a_rule_is_refused",
    "Audience": "test_claim_that_breaks_a_rule_is_refused",
    "Subject": "test_subject_is_demanded_where_it_is_mandatory",
    "NotBefore": "test_claim_that_breaks_a_rule_is_refused",
    "Expiration": "test_claim_that_breaks_a_rule_is_refused",
    "ClockSkew": "test_expired_jwt_is_accepted_for_the_configured_time",
    "ExpirationTimeDifference": "test_expired_jwt_is_accepted_for_the_configured_time",
    "Domain": "test_address_of_own_domain_only_opens_existing_account",
    "TokenQueryParameterName": "test_token_comes_in_the_parameter_of_its_provider",
    "LoginUrl": "test_button_leads_to_the_login_page",
    "EnableAutoLookUp": "test_domain_leads_to_the_login_page",
    "ListInInterface": "test_unlisted_login_page_has_no_button",
    "RaasUpdateFields": "test_listed_fields_follow_the_jwt",
    "UpdateEmailProfile": "test_changed_email_changes_the_account",
    "UseAuthorizationHeader": "test_header_needs_the_setting_of_its_provider",
}
"""By field of a JWT provider, the test that fails without it, here or of sign-ins in the browser."""
STORED_JWT = {"CreatedDate", "LastModifiedDate"}
"""Fields of a JWT provider that the service sets."""
SOURCES = (
    Path(__file__),
    Path(__file__).with_name("test_provider_requests.py"),
    Path(__file__).with_name("native_sign_in") / "test_jwt_providers.py",
    Path(__file__).with_name("native_sign_in") / "test_account_updates.py",
    PAGES / "federation" / "test_jwt_sign_on.py",
    PAGES / "federation" / "test_provider_domains.py",
    PAGES / "federation" / "test_jwt_login_page.py",
)


def undefined(names: Iterable[str]) -> list[str]:
    written = "".join(path.read_text() for path in SOURCES)
    return [name for name in names if f"def {name}(" not in written]


def test_every_field_of_a_jwt_provider_is_covered(acme: TenantServer) -> None:
    body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32}
    shown = answered(ask(acme, machine(acme, "all"), "POST", "/v2/manage/custom-providers/jwt", body))
    assert shown.keys() == JWT.keys() | STORED_JWT
    assert undefined(JWT.values()) == []


REFUSED = {"oauth": ("ApplicationID", "CreatedAt", "LastModified"), "jwt": ("Id", "AppId", "Version")}
"""Fields of the interface without a counterpart: an application has one id, a provider no version, and a connection no times."""


@pytest.mark.parametrize("kind", REFUSED)
def test_fields_of_the_interface_are_shown_or_refused_by_name(
    acme: TenantServer, fake_provider: FakeProvider, kind: str
) -> None:
    path, token = f"/v2/manage/custom-providers/{kind}", machine(acme, "all")
    if kind == "oauth":
        by_api(acme, fake_provider)
    else:
        answered(ask(acme, token, "POST", path, {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32}))
    (shown,) = answered(ask(acme, token, "GET", path))["Data"]
    named = {member.partition(".")[0] for member in MEMBERS[f"{kind}_providers"]}
    assert named - shown.keys() == set(REFUSED[kind])
    for field in REFUSED[kind]:
        answer = ask(acme, token, "POST", path, {**shown, field: "x"})
        assert refused(answer) == (400, 7900)
        assert field in answer.get_json()["Description"]
