"""Client authentication at the token endpoint, and its errors."""

from base64 import b64encode
from urllib.parse import quote_plus

import pytest
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World


def basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{client_id}:{secret}".encode()).decode()}


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


GRANT = {"grant_type": "authorization_code", "code": "none", "redirect_uri": "https://shop.example/cb"}


@pytest.fixture
def basic_client(world: World) -> RelyingParty:
    return world.application("basic", client_id="basic", token_endpoint_auth_method="client_secret_basic")


ENCODED_SECRET = "a+secret+of+the%20application"


def test_basic_authentication_is_accepted(basic_client: RelyingParty, browser: Browser, ada: Person) -> None:
    form = {**GRANT, "code": browser.code(basic_client, ada)}
    assert basic_client.back("token", form, headers=basic("basic", ENCODED_SECRET)).status_code == 200


def test_registered_method_is_enforced_at_tenant_wide_addresses(
    basic_client: RelyingParty, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 7591 section 2; addresses that name the application take either, as the interface's clients send either."""
    form = {**GRANT, "code": browser.code(basic_client, ada)}
    in_body = basic_client.back("token", {**form, **basic_client.client_credentials()})
    assert status_and_error(in_body) == (401, "invalid_client")
    assert "client_secret_basic" in (in_body.json or {})["error_description"]
    in_header = shop.back("token", GRANT, headers=basic("shop", ENCODED_SECRET))
    assert status_and_error(in_header) == (401, "invalid_client")
    for path in ("introspect", "revoke"):
        answer = basic_client.back(path, {"token": "x", **basic_client.client_credentials()})
        assert status_and_error(answer) == (401, "invalid_client")
    assert basic_client.back("token", form, headers=basic("basic", ENCODED_SECRET)).status_code == 200
    for client in (basic_client, shop):
        own = client.at_own_issuer()
        assert status_and_error(own.back("token", {**GRANT, **own.client_credentials()})) == (400, "invalid_grant")
        assert status_and_error(own.back("token", GRANT, headers=basic(own.client_id, ENCODED_SECRET))) == (
            400,
            "invalid_grant",
        )


def test_application_without_a_named_method_may_use_either(world: World, basic_client: RelyingParty) -> None:
    """It was registered before the method was enforced, or by a client that accepts it."""
    world.forget_setting(basic_client, "token_endpoint_auth_method")
    assert status_and_error(basic_client.back("token", {**GRANT, **basic_client.client_credentials()})) == (
        400,
        "invalid_grant",
    )
    assert status_and_error(basic_client.back("token", GRANT, headers=basic("basic", ENCODED_SECRET))) == (
        400,
        "invalid_grant",
    )


def test_two_client_authentication_methods_are_refused(shop: RelyingParty) -> None:
    both = shop.back(
        "token", {**GRANT, **shop.client_credentials()}, headers=basic("shop", "a+secret+of+the+application")
    )
    assert status_and_error(both) == (400, "invalid_request")
    other = shop.back("token", {**GRANT, "client_id": "other"}, headers=basic("shop", "a+secret+of+the+application"))
    assert status_and_error(other) == (400, "invalid_request")


@pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic c2hvcA==", "Basic OnNlY3JldA=="])
def test_malformed_basic_header_is_refused(shop: RelyingParty, header: str) -> None:
    assert status_and_error(shop.back("token", GRANT, headers={"Authorization": header})) == (400, "invalid_request")


def test_wrong_secret_has_error_of_each_endpoint(shop: RelyingParty, legacy: RelyingParty) -> None:
    wrong = {**GRANT, "client_secret": "wrong"}
    shared = shop.back("token", {**wrong, "client_id": "shop"})
    assert status_and_error(shared) == (401, "invalid_client")
    assert shared.headers["WWW-Authenticate"].startswith("Basic")
    assert status_and_error(shop.at_own_issuer().back("token", {**wrong, "client_id": "shop"})) == (
        403,
        "unauthorized_client",
    )
    assert status_and_error(legacy.back("token", {**wrong, "client_id": legacy.client_id})) == (
        403,
        "unauthorized_client",
    )
    machine = {"grant_type": "client_credentials", "audience": "x", "client_id": "shop", "client_secret": "wrong"}
    assert status_and_error(shop.post("/service/oauth/token", machine)) == (403, "unauthorized_client")


UNAUTHORIZED: dict[tuple[str, str], tuple[int, str]] = {
    # The interface says 403 where it documents the error: at its token endpoints, for a wrong secret also at other endpoints.
    ("a grant", "token"): (403, "unauthorized_client"),
    ("a grant", "{app}/token"): (403, "unauthorized_client"),
    ("a grant", "/service/oauth/token"): (403, "unauthorized_client"),
    ("a secret", "{app}/token"): (403, "unauthorized_client"),
    ("a secret", "{app}/introspect"): (403, "unauthorized_client"),
    ("a secret", "{app}/revoke"): (403, "unauthorized_client"),
    ("a secret", "/service/oauth/token"): (403, "unauthorized_client"),
    ("a secret", "/service/oauth/introspect"): (403, "unauthorized_client"),
    ("a secret", "/service/oauth/revoke"): (403, "unauthorized_client"),
    # RFC 9126 section 2.3 and RFC 8628 section 3.2 name RFC 6749 section 5.2: 400.
    ("a grant", "par"): (400, "unauthorized_client"),
    ("a grant", "{app}/par"): (400, "unauthorized_client"),
    ("a grant", "device"): (400, "unauthorized_client"),
    ("a grant", "{app}/device"): (400, "unauthorized_client"),
    ("a secret", "{app}/par"): (400, "unauthorized_client"),
    ("a secret", "{app}/device"): (400, "unauthorized_client"),
    # At the standard's addresses a wrong secret is invalid_client (RFC 6749 section 5.2).
    **{("a secret", item): (401, "invalid_client") for item in ("token", "par", "device", "introspect", "revoke")},
}
"""By what the client lacks, and the address that it calls."""


def test_unauthorized_client_has_status_of_each_address(world: World, subtests: pytest.Subtests) -> None:
    client = world.application("bare", grant_types=["refresh_token"])
    for (lacks, path), expected in UNAUTHORIZED.items():
        with subtests.test(f"{lacks} at {path}"):
            form: dict[str, str | None] = {"grant_type": "client_credentials", "audience": "x", "token": "x"}
            form |= client.authorization_parameters() | client.client_credentials()
            form |= {"client_secret": "wrong"} if lacks == "a secret" else {}
            address = path if path.startswith("/") else f"/api/oidc/{path.format(app=client.name)}"
            answer = client.post(address, form)
            assert status_and_error(answer) == expected
            assert set(answer.get_json()) == {"error", "error_description"}


def test_response_type_of_no_right_is_400_when_pushed(world: World) -> None:
    """RFC 9126 section 2.3"""
    for protocol, response_type in (("openid", "code id_token"), ("oauth", "token")):
        client = world.application(f"code-{protocol}", protocol=protocol).at_own_issuer()
        assert status_and_error(client.push(response_type=response_type, nonce="n")) == (400, "unauthorized_client")


def test_confidential_client_without_secret_is_refused(shop: RelyingParty, legacy: RelyingParty) -> None:
    assert status_and_error(shop.back("token", {**GRANT, "client_id": "shop"})) == (401, "invalid_client")
    assert status_and_error(shop.at_own_issuer().back("token", {**GRANT, "client_id": "shop"})) == (
        400,
        "invalid_request",
    )


def test_unknown_client_is_invalid_client_everywhere(shop: RelyingParty, legacy: RelyingParty) -> None:
    form = {**GRANT, "client_id": "absent", "client_secret": "x"}
    for client in (shop, shop.at_own_issuer(), legacy):
        assert status_and_error(client.back("token", form)) == (401, "invalid_client")
    assert status_and_error(shop.at_own_issuer().back("token", GRANT)) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["token", "introspect", "revoke"])
def test_request_without_any_client_is_unauthenticated(shop: RelyingParty, path: str) -> None:
    """RFC 6749 section 5.2: `invalid_client` also where no client authentication is included."""
    answer = shop.back(path, {**GRANT, "token": "x"})
    assert status_and_error(answer) == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic")


def test_client_must_match_endpoint_path(shop: RelyingParty, strict: RelyingParty, legacy: RelyingParty) -> None:
    form = {**GRANT, **shop.client_credentials()}
    assert status_and_error(shop.post(f"/api/oidc/{strict.name}/token", form)) == (401, "invalid_client")
    assert status_and_error(shop.post("/api/oidc/absent/token", form)) == (401, "invalid_client")
    assert status_and_error(
        legacy.post(f"/api/oidc/{legacy.name}/token", {**GRANT, **legacy.client_credentials()})
    ) == (
        401,
        "invalid_client",
    )
    key = {"apikey": shop.api_key}
    assert status_and_error(shop.post("/api/oauth/Shop/token", form, query_string=key)) == (401, "invalid_client")


def test_public_client_with_secret_is_refused(phone: RelyingParty) -> None:
    form = {**GRANT, "client_id": phone.client_id, "client_secret": "made up"}
    assert status_and_error(phone.back("token", form)) == (401, "invalid_client")


def test_oauth_endpoint_requires_api_key_with_interface_errors(
    legacy: RelyingParty, browser: Browser, ada: Person
) -> None:
    form = {**GRANT, "code": browser.code(legacy, ada, scope="profile"), **legacy.client_credentials()}
    missing = legacy.back("token", form, query_string={})
    assert missing.status_code == 400
    assert (missing.json or {})["ErrorCode"] == 908
    assert "apikey" in (missing.json or {})["Description"]
    wrong = legacy.back("token", form, query_string={"apikey": "00000000-0000-0000-0000-000000000000"})
    assert (wrong.status_code, (wrong.json or {})["ErrorCode"]) == (403, 901)
    right = legacy.back("token", form, query_string={"ApiKey": legacy.api_key.upper()})
    assert right.status_code == 200


def test_optional_api_key_must_be_right(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    wrong = shop.back(
        "token", {**GRANT, **shop.client_credentials()}, query_string={"apikey": "00000000-0000-0000-0000-000000000000"}
    )
    assert (wrong.json or {})["ErrorCode"] == 901
    form = {**GRANT, "code": browser.code(shop, ada), **shop.client_credentials()}
    assert shop.back("token", form, query_string={"apikey": shop.api_key}).status_code == 200


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": "magic"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unauthorized_client"),
        ({"code": None}, "invalid_request"),
    ],
)
def test_grant_errors_follow_rfc_6749(shop: RelyingParty, changed: dict[str, str | None], error: str) -> None:
    assert status_and_error(shop.back("token", {**GRANT, **shop.client_credentials(), **changed}))[1] == error


MALFORMED_BODY = [
    (b"{", "application/json"),
    (b"[]", "application/json"),
    (b'{"grant_type": 7, "client_id": "shop"}', "application/json"),
    (b'{"client_id": 7}', "application/json"),
    (b'{"client_id": "shop", "client_secret": ["x"]}', "application/json"),
    (b'{"a":' * 10_000, "application/json"),
    (b"client_id=shop", "text/plain"),
    (b"client_id=%00", "application/x-www-form-urlencoded"),
    (b"client_id=%ff", "application/x-www-form-urlencoded"),
    (b"", "application/x-www-form-urlencoded"),
    (b"", ""),
    (b"x" * 2_000_000, "application/x-www-form-urlencoded"),
]


def test_malformed_body_is_refused(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for body, content_type in MALFORMED_BODY:
        with subtests.test(str((body, content_type))[:60]):
            answer = shop.wsgi.post("/api/oidc/token", data=body, content_type=content_type, base_url=shop.hub_url)
            assert status_and_error(answer) == (400, "invalid_request") or status_and_error(answer) == (
                401,
                "invalid_client",
            )


def test_guesses_of_secret_are_limited_per_ip_address(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    for _ in range(20):
        shop.back("token", {**GRANT, "client_id": "shop", "client_secret": "guess"})
    expired = shop.back("token", {**GRANT, **shop.client_credentials()})
    assert expired.status_code == 429
    assert int(expired.headers["Retry-After"]) >= 1
    form = {**GRANT, "code": browser.code(shop, ada), **shop.client_credentials()}
    assert shop.back("token", form, environ_overrides={"REMOTE_ADDR": "198.51.100.77"}).status_code == 200


def test_requests_of_public_client_are_limited(phone: RelyingParty) -> None:
    statuses = {phone.back("token", {**GRANT, "client_id": phone.client_id}).status_code for _ in range(310)}
    assert statuses == {400, 429}


def test_hub_client_is_not_limited_per_ip_address(shop: RelyingParty) -> None:
    hub = shop.as_client("gatehouse-profile", f"{shop.hub_url}/callback/profile")
    statuses = {hub.back("token", {**GRANT, "client_id": hub.client_id}).status_code for _ in range(310)}
    assert statuses == {400}


def test_deactivated_client_is_invalid_client(world: World) -> None:
    retired = world.application("retired", is_active=False)
    assert status_and_error(retired.back("token", {**GRANT, **retired.client_credentials()})) == (401, "invalid_client")


@pytest.mark.parametrize("secret", ["a+b %41", "ümlaut:colon", "100%"])
def test_basic_header_is_read_encoded_or_plain(world: World, secret: str) -> None:
    client = world.application("odd", secret=secret, token_endpoint_auth_method="client_secret_basic")
    plain = f"{client.client_id}:{secret}"
    for joined in (plain.encode(), plain.encode("latin-1"), f"{client.client_id}:{quote_plus(secret)}".encode()):
        header = {"Authorization": "Basic " + b64encode(joined).decode()}
        assert status_and_error(client.back("token", GRANT, headers=header)) == (400, "invalid_grant")
    wrong = {"Authorization": "Basic " + b64encode(f"{client.client_id}:{secret}x".encode()).decode()}
    assert status_and_error(client.back("token", GRANT, headers=wrong)) == (401, "invalid_client")


def test_malformed_client_id_is_refused(shop: RelyingParty) -> None:
    for client_id in ("a\x00b", "a%00b", "a\nb", "x" * 3000, "%ff"):
        assert shop.back("token", GRANT, headers=basic(client_id, "x")).status_code in (400, 401)
    assert status_and_error(shop.back("token", {**GRANT, "client_id": "x" * 3000}))[1] == "invalid_client"


def test_guesses_of_client_id_are_limited(shop: RelyingParty) -> None:
    statuses = [shop.back("token", {**GRANT, "client_id": f"guess-{number}"}).status_code for number in range(205)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
