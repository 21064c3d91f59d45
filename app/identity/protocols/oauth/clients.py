"""Client authentication at the token, introspection and revocation endpoints (RFC 6749 section 2.3)."""

from __future__ import annotations

import hmac
from base64 import b64decode
from binascii import Error as NotBase64
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_plus

from app.contract.errors_oauth import InvalidClient, InvalidRequest, InvalidTarget, UnauthorizedClient
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import rate_limits
from app.kit import randomness
from app.kit.errors import OAuthError
from app.kit.operation import Accept
from app.kit.reading import RawRequest

_DUMMY_HASH = randomness.digest(randomness.token())  # compared for an unknown client, so that timing reveals nothing

BASIC, POST = "client_secret_basic", "client_secret_post"
_MAX_FIELDS = 1000
_MAX_ID_LENGTH = 128


@dataclass(frozen=True)
class ClientCredentials:
    """The credentials of a request, and the method that sent them (RFC 7591 section 2).

    There are several candidate secrets where the header's encoding is ambiguous.
    """

    client_id: str
    secrets: tuple[str, ...] = ()
    method: str = POST


def authenticate(context: Context, raw: RawRequest, body: dict[str, Any]) -> Application:
    """Authenticate and return the client; a public client sends only its id.

    Raises:
        InvalidTarget: several resources (decisions/0142).
        InvalidRequest: another parameter comes twice, two methods at once, or no client_id or no secret where the address names the
            application.
        InvalidClient: the client is unknown, inactive, or not the application that the address names; at the tenant-wide
            addresses also a missing client_id, a wrong or missing secret, and another method than the registered one.
        UnauthorizedClient: the secret is wrong, at addresses that name the application and at those of machine tokens (seed).
        SlowDown: too many refusals of this address, or of this client at it.
    """
    _refuse_repeated(context, raw)
    presented = credentials(raw, body)
    if presented is None:
        raise _missing(raw, "client_id")
    if len(presented.client_id) > _MAX_ID_LENGTH:
        raise InvalidClient
    rate_limits.check_refusals(context, presented.client_id)
    client = context.application(client_id=presented.client_id)
    is_secret_right = _matches(context, client, presented.secrets)
    if client is None or not client.settings.is_active or not is_addressed_by(client, raw):
        raise _refused(context, presented, InvalidClient())
    if client.settings.is_public:
        if presented.secrets:
            raise _refused(context, presented, InvalidClient("A public client has no client_secret."))
        return client
    if not presented.secrets:
        raise _missing(raw, "client_secret")
    if _is_tenant_wide(raw) and not _is_registered_method(client, presented.method):
        method = client.settings.token_endpoint_auth_method
        raise _refused(context, presented, InvalidClient(f"This client authenticates with {method}."))
    if not is_secret_right:
        raise _refused(context, presented, _wrong_secret(raw))
    return client


def credentials(raw: RawRequest, body: dict[str, Any]) -> ClientCredentials | None:
    """Return the credentials of the request: HTTP Basic, or `client_id` and `client_secret` in the body; None without any."""
    named, secret = _member(body, "client_id"), _member(body, "client_secret")
    scheme, _, text = raw.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        if named is None:
            return None
        return ClientCredentials(named, (secret,) if secret is not None else ())
    basic = _basic(text)
    if secret is not None or named not in (None, basic.client_id):
        raise InvalidRequest("The client is named twice.")
    return basic


def is_addressed_by(client: Application, raw: RawRequest) -> bool:
    """Return whether the address belongs to the client: its name and its protocol, or the tenant-wide address."""
    app = raw.parameters.get("app")
    if app is None:
        return True
    protocol = "oauth" if "/oauth/" in raw.path.lower() else "openid"
    return client.name.lower() == app.lower() and client.settings.protocol == protocol


def _refuse_repeated(context: Context, raw: RawRequest) -> None:
    """Refuse repeated parameters (RFC 6749 section 3.2): two parsers could pick different values.

    `resource` alone may be repeated (RFC 8707 section 2), which has an error of its own where several are not served.
    """
    if raw.media_type not in Accept.FORM.value:
        return
    names = [name.lower() for name, _ in parse_qsl(raw.body.decode("utf-8", "replace"), max_num_fields=_MAX_FIELDS)]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    is_several = (
        context.operation is not None and InvalidTarget in context.operation.errors and repeated == {"resource"}
    )
    if is_several:
        raise InvalidTarget("Name one resource.")
    if repeated:
        raise InvalidRequest("A parameter is given more than once.")


def _basic(text: str) -> ClientCredentials:
    """Read HTTP Basic: both parts are form-encoded before they are joined (RFC 6749 section 2.3.1).

    Many clients do not encode them, and some use Latin-1; a secret is compared both decoded and as sent.
    """
    try:
        joined = b64decode(text.strip(), validate=True)
    except NotBase64:
        raise InvalidRequest("The Authorization header is malformed.") from None
    try:
        client_id, colon, secret = joined.decode().partition(":")
    except UnicodeDecodeError:
        client_id, colon, secret = joined.decode("latin-1").partition(":")
    client_id = unquote(client_id)
    if not colon or not client_id or not client_id.isprintable():
        raise InvalidRequest("The Authorization header is malformed.")
    return ClientCredentials(client_id, tuple({unquote_plus(secret), secret}) if secret else (), BASIC)


def _member(body: dict[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is None:
        value = next((other for key, other in body.items() if key.lower() == name), None)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidRequest(f"The {name} is not formatted correctly.")
    return value


def has_secret(context: Context, client: Application | None, secret: str) -> bool:
    """Return whether this is a secret of the client, in the same time whether or not there is such a client."""
    return _matches(context, client, (secret,))


def _matches(context: Context, client: Application | None, secrets: tuple[str, ...]) -> bool:
    held = client.secret_hashes(context.now) if client is not None else ()
    expected = [one.encode() for one in held or (_DUMMY_HASH,)]
    digests = [randomness.digest(secret).encode() for secret in secrets or ("",)]
    matches = [hmac.compare_digest(digest, one) for digest in digests for one in expected]
    return any(matches) and bool(held) and bool(secrets)


def _is_tenant_wide(raw: RawRequest) -> bool:
    return "app" not in raw.parameters and not raw.path.lower().startswith("/service/oauth/")


def _is_registered_method(client: Application, method: str) -> bool:
    """Return whether the client may use the method. One that was registered without naming any may use either (decisions/0147)."""
    settings = client.settings
    is_named = "token_endpoint_auth_method" in settings.model_fields_set
    return not is_named or method == settings.token_endpoint_auth_method


def _missing(raw: RawRequest, name: str) -> OAuthError:
    is_standard = _is_tenant_wide(raw)
    return InvalidClient("The client must authenticate.") if is_standard else InvalidRequest.names(name)


def _wrong_secret(raw: RawRequest) -> OAuthError:
    return InvalidClient("The client_secret is not valid.") if _is_tenant_wide(raw) else UnauthorizedClient()


def _refused(context: Context, presented: ClientCredentials, error: OAuthError) -> OAuthError:
    rate_limits.count_refusal(context, presented.client_id)
    context.audit.record("client.refused", client_id=presented.client_id, error=error.code)
    return error
