"""The checks of an authorization request, in their order."""

from collections.abc import Callable

from app.identity.protocols.oauth.authorize import (
    acr_values,
    claims,
    client_id,
    display,
    id_token_hint,
    login_hint,
    max_age,
    nonce,
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
from app.identity.protocols.oauth.authorize.request import Asked

Check = Callable[[Asked], None]

# Until these hold nothing is sent to the redirect address: they raise Refused.
BELIEVED: tuple[Check, ...] = (client_id.check, redirect_uri.check)

# From here on a refusal goes to the redirect address, in the response mode asked for: they raise Redirected.
REDIRECTED: tuple[Check, ...] = (
    state.check,
    response_mode.check,
    repeated.check,
    request_object.check,
    response_type.check,
    resource.check,
    scope.check,
    nonce.check,
    pkce.check,
    prompt.check,
    max_age.check,
    acr_values.check,
    display.check,
    login_hint.check,
    id_token_hint.check,
    claims.check,
)
