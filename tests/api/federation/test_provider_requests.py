"""What a custom provider adds to the requests of a sign-in: parameters, headers, the method, and where the access token stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from app.kit.operations.errors import ApiError
from tests.api.federation.test_provider_fields import NAME, by_api, by_file, identity_of
from tests.support.accounts.connecting import led, query_of
from tests.support.fakes.identity_provider import FakeProvider, ReceivedRequest
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, refused

pytestmark = on_one_database
OAUTH = "/v2/manage/custom-providers/oauth"
SET_UP = pytest.mark.parametrize("set_up", [by_api, by_file])
NAMES = {
    "ExtraParameterInRedirectToProvider": "authorization_parameters", "QueryParam": "profile_parameters", "Headers": "profile_headers",
    "AccessTokenParameterNameForApiAccess": "access_token_parameter", "RequestTokenHttpMethod": "token_method",
}  # fmt: skip
"""By field of the operation, the key of the file."""


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def lenient(fake_provider: FakeProvider) -> FakeProvider:
    """A provider that takes the access token in a parameter or in any header, and a token request by GET."""

    def answer(request: ReceivedRequest) -> tuple[int, Any] | None:
        if request.path == "/token" and request.method == "GET":
            return fake_provider.token(request.query)
        texts = (*request.query.values(), *request.headers.values())
        has_token = any(token in text for token in fake_provider.tokens for text in texts)
        return (200, {"id": 1815, "login": "ada"}) if request.path == "/user" and has_token else None

    fake_provider.for_apps = answer
    return fake_provider


def member(set_up: Callable[..., None], field: str, value: Any) -> dict[str, Any]:
    return {field if set_up is by_api else NAMES[field]: value}


def profile_request(tenant: TenantServer, upstream: FakeProvider) -> ReceivedRequest:
    identity_of(tenant, upstream)
    return [item for item in upstream.received if item.path == "/user"][-1]


@SET_UP
def test_further_parameters_lead_to_the_provider(
    acme: TenantServer, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    value: Any = (
        "?prompt=select_account&theme=dark" if set_up is by_api else {"prompt": "select_account", "theme": "dark"}
    )
    set_up(acme, fake_provider, **member(set_up, "ExtraParameterInRedirectToProvider", value))
    query = query_of(led(acme, NAME))
    assert (query["prompt"], query["theme"], query["response_type"]) == ("select_account", "dark", "code")
    assert identity_of(acme, fake_provider).subject == "1815"


@SET_UP
def test_profile_request_has_further_parameters(
    acme: TenantServer, lenient: FakeProvider, set_up: Callable[..., None]
) -> None:
    value = {"fields": "id,login & more", "oauth_token": "#accesstoken#"}
    set_up(acme, lenient, **member(set_up, "QueryParam", value))
    request = profile_request(acme, lenient)
    assert request.query["fields"] == "id,login & more"
    assert request.query["oauth_token"] in lenient.tokens
    assert "Authorization" not in request.headers, "the token is sent once (RFC 6750 section 2)"


@SET_UP
def test_profile_request_has_further_headers(
    acme: TenantServer, lenient: FakeProvider, set_up: Callable[..., None]
) -> None:
    value = {"Authorization": "OAuth #accesstoken#", "X-Api-Version": "7", "User-Agent": "acme"}
    set_up(acme, lenient, **member(set_up, "Headers", value))
    headers = profile_request(acme, lenient).headers
    assert headers["Authorization"].removeprefix("OAuth ") in lenient.tokens
    assert (headers["X-Api-Version"], headers["User-Agent"]) == ("7", "acme")


@SET_UP
def test_other_headers_leave_the_bearer_token(
    acme: TenantServer, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    set_up(acme, fake_provider, **member(set_up, "Headers", {"X-Api-Version": "7"}))
    headers = profile_request(acme, fake_provider).headers
    assert headers["Authorization"].removeprefix("Bearer ") in fake_provider.tokens


@SET_UP
def test_access_token_is_in_the_named_parameter(
    acme: TenantServer, lenient: FakeProvider, set_up: Callable[..., None]
) -> None:
    set_up(acme, lenient, **member(set_up, "AccessTokenParameterNameForApiAccess", "oauth_token"))
    request = profile_request(acme, lenient)
    assert request.query["oauth_token"] in lenient.tokens
    assert "Authorization" not in request.headers


@SET_UP
def test_code_is_exchanged_by_get(acme: TenantServer, lenient: FakeProvider, set_up: Callable[..., None]) -> None:
    set_up(acme, lenient, **member(set_up, "RequestTokenHttpMethod", "GET"))
    assert identity_of(acme, lenient).subject == "1815"
    request = next(item for item in lenient.received if item.path == "/token")
    assert (request.method, request.query["client_secret"], request.query["grant_type"]) == (
        "GET", "the client secret", "authorization_code",
    )  # fmt: skip
    assert "code_verifier" in request.query


@SET_UP
def test_id_token_stands_for_its_placeholder(
    acme: TenantServer, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    changed = member(set_up, "Headers", {"X-Id-Token": "#idtoken#"})
    set_up(acme, fake_provider, **changed, **({"Scope": "openid"} if set_up is by_api else {"scope": "openid"}))
    assert profile_request(acme, fake_provider).headers["X-Id-Token"].count(".") == 2
    set_up(acme, fake_provider, **changed)
    with pytest.raises(ConnectionBroken):
        identity_of(acme, fake_provider)


REFUSED: dict[str, tuple[str, Any, Any]] = {
    "another client": ("ExtraParameterInRedirectToProvider", "client_id=other", {"client_id": "other"}),
    "another address": ("ExtraParameterInRedirectToProvider", "Redirect_Uri=https://e.example", {"Redirect_Uri": "https://e.example"}),
    "another state": ("ExtraParameterInRedirectToProvider", "a=b&state=x", {"a": "b", "state": "x"}),
    "another nonce": ("ExtraParameterInRedirectToProvider", "nonce=x", {"nonce": "x"}),
    "another challenge": ("ExtraParameterInRedirectToProvider", "code_challenge=x", {"code_challenge": "x"}),
    "another response": ("ExtraParameterInRedirectToProvider", "response_type=token", {"response_type": "token"}),
    "a request object": ("ExtraParameterInRedirectToProvider", "request_uri=https://e.example", {"request_uri": "https://e.example"}),
    "a line in a parameter": ("ExtraParameterInRedirectToProvider", "a=b%0Ac", {"a": "b\nc"}),
    "a long parameter": ("ExtraParameterInRedirectToProvider", f"a={'x' * 501}", {"a": "x" * 501}),
    "many parameters": ("QueryParam", {f"p{number}": "" for number in range(21)}, None),
    "another host": ("Headers", {"Host": "internal.example"}, None),
    "another length": ("Headers", {"content-length": "0"}, None),
    "a fixed authorization": ("Headers", {"Authorization": "Bearer of-an-administrator"}, None),
    "a fixed cookie": ("Headers", {"Cookie": "session=1"}, None),
    "a second header": ("Headers", {"X-Team": "1", "x-team": "2"}, None),
    "a line in a header": ("Headers", {"X-Team": "1\r\nHost: internal.example"}, None),
    "a line at the end of a header": ("Headers", {"X-Team": "1\n"}, None),
    "a line in a name": ("Headers", {"X-Team\r\nHost": "1"}, None),
    "letters that no header has": ("Headers", {"X-Team": "é"}, None),
    "a signature of OAuth 1.0a": ("Headers", {"X-Sign": "#oauthsignature#"}, None),
    "a signature in a parameter": ("QueryParam", {"sign": "#OAuthSignature#"}, None),
    "an unknown method": ("RequestTokenHttpMethod", "PUT", None),
    "a parameter's name with a blank": ("AccessTokenParameterNameForApiAccess", "a b", None),
}  # fmt: skip
"""By case, a field, a value that is refused, and that of the file where it differs."""


@pytest.mark.parametrize(("field", "value", "_of_file"), REFUSED.values(), ids=REFUSED)
def test_operation_refuses_and_names_the_field(
    acme: TenantServer, fake_provider: FakeProvider, field: str, value: Any, _of_file: Any
) -> None:
    body = {
        "ProviderName": NAME, "UserLoginEndpoint": f"{fake_provider.url}/authorize", "AccessTokenEndpoint": f"{fake_provider.url}/token",
        "UserprofileEndpoint": f"{fake_provider.url}/user", "ApplicationKey": "key", "ApplicationSecret": "s", "DataMap": {"ID": "id"},
    }  # fmt: skip
    token = machine(acme, "all")
    answer = ask(acme, token, "POST", OAUTH, {**body, field: value})
    assert refused(answer)[0] in (400, 422)
    assert field in answer.get_json()["Description"]
    assert ask(acme, token, "GET", OAUTH).get_json()["Data"] == []


@pytest.mark.parametrize(("field", "value", "of_file"), REFUSED.values(), ids=REFUSED)
def test_file_refuses_and_names_the_key(
    acme: TenantServer, fake_provider: FakeProvider, field: str, value: Any, of_file: Any
) -> None:
    with pytest.raises((ConfigurationError, ApiError), match=NAMES[field]):
        by_file(acme, fake_provider, **{NAMES[field]: of_file or value})


@pytest.mark.parametrize("field", ["token_method", "access_token_parameter", "profile_parameters", "profile_headers"])
@pytest.mark.parametrize("base", [{"issuer": "https://id.example"}, {"preset": "github"}], ids=["issuer", "preset"])
def test_connection_without_own_endpoints_refuses_them(acme: TenantServer, field: str, base: dict[str, str]) -> None:
    value: Any = {"token_method": "GET", "access_token_parameter": "t"}.get(field, {"A": "b"})
    connection = json.dumps({"key": "k", **base, field: value})
    with pytest.raises(
        ConfigurationError, match=f"{field}: expected nothing; only connections with endpoints of their own have it"
    ):
        applied(acme.services, f"tenants: [{{name: {acme.name}, connections: {{{NAME}: {connection}}}}}]")
