"""request, request_uri, registration: not supported; refused with the errors of OpenID Connect Core section 3.1.2.6."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_ERRORS = {
    "request": "request_not_supported",
    "request_uri": "request_uri_not_supported",
    "registration": "registration_not_supported",
}


def check(request: UncheckedRequest) -> None:
    for name, error in _ERRORS.items():
        if name in request.values:
            raise RefusedByRedirect(error, f"The parameter {name} is not supported.")
