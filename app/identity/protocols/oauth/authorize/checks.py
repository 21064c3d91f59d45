"""The checks of an authorization request, in their order."""

from collections.abc import Callable

from app.identity.protocols.oauth.authorize import (
    acr_values,
    authorization_details,
    claims,
    client_id,
    connection,
    display,
    dpop_jkt,
    id_token_hint,
    jarm,
    login_hint,
    max_age,
    nonce,
    organization,
    pkce,
    prompt,
    redirect_uri,
    repeated,
    request_object,
    resource,
    response_mode,
    response_type,
    scope,
    state,
)
from app.identity.protocols.oauth.authorize.request import UncheckedRequest

Check = Callable[[UncheckedRequest], None]

# Until these pass, nothing is sent to the redirect URI (RFC 6749 section 4.1.2.1): they raise RefusedOnPage.
CLIENT_CHECKS: tuple[Check, ...] = (
    client_id.check,
    jarm.create_keys,
    request_object.expand,
    redirect_uri.check,
)

# A refusal by these goes to the redirect URI, in the requested response mode: they raise RefusedByRedirect.
PARAMETER_CHECKS: tuple[Check, ...] = (
    state.check,
    response_mode.check,
    request_object.check,
    repeated.check,
    response_type.check,
    resource.check,
    scope.check,
    authorization_details.check,
    nonce.check,
    pkce.check,
    dpop_jkt.check,
    prompt.check,
    organization.check,
    connection.check,
    max_age.check,
    acr_values.check,
    display.check,
    login_hint.check,
    id_token_hint.check,
    claims.check,
)
