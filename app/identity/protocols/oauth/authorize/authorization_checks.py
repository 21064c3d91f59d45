"""The checks of an authorization request, in their order."""

from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.oauth_parameters import (
    authorization_details,
    client_id,
    dpop_jkt,
    pkce,
    redirect_uri,
    repeated,
    resource,
    response_mode,
    response_type,
    scope,
    state,
)
from app.identity.protocols.oauth.authorize.openid_parameters import (
    acr_values,
    claims,
    connection,
    display,
    id_token_hint,
    login_hint,
    max_age,
    nonce,
    organization,
    prompt,
    workflow,
)
from app.identity.protocols.oauth.authorize.request import Check, Recheck

# Until these pass, nothing is sent to the redirect URI (RFC 6749 section 4.1.2.1): they raise RefusedOnPage.
CLIENT_CHECKS: tuple[Check, ...] = (
    client_id.check,
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
    workflow.check,
    connection.check,
    max_age.check,
    acr_values.check,
    display.check,
    login_hint.check,
    id_token_hint.check,
    claims.check,
)

# What a client may do can change while a person signs in, so these must hold again at each step (decision 0314).
RECHECKS: tuple[Recheck, ...] = (
    redirect_uri.still_holds,
    request_object.still_holds,
    response_mode.still_holds,
    response_type.still_holds,
    resource.still_holds,
    scope.still_holds,
    authorization_details.still_holds,
    pkce.still_holds,
)
