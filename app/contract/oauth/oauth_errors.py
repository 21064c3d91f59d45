"""OAuth's errors (RFC 6749 section 5.2, RFC 6750 section 3.1)."""

from app.kit.operations.errors import OAuthError


class InvalidRequest(OAuthError):
    code, status, description = "invalid_request", 400, "The request is malformed."
    remedy = "`error_description` names the parameter."


class WrongMethod(InvalidRequest):
    """Wrong method: the token endpoint accepts POST only (RFC 6749 section 3.2)."""

    status, description = 405, "This address does not answer this method."


class InvalidClient(OAuthError):
    """The client is unknown or could not be authenticated."""

    code, status, description = "invalid_client", 401, "The client_id is not valid."
    headers = {"WWW-Authenticate": 'Basic realm="client"'}
    remedy = "Check the client ID, and that the application is active."


class UnauthorizedClient(OAuthError):
    """The client_secret is wrong, or the client may not use this grant."""

    code, status, description = "unauthorized_client", 403, "The client_secret is not valid."
    remedy = "Check the client secret, and use an authentication method and a grant that the client is registered for."


class InvalidGrant(OAuthError):
    code, status, description = "invalid_grant", 400, "The supplied grant or token is not valid."
    remedy = "Codes and refresh tokens work once and for one client. Start the authorization again."


class UnsupportedGrantType(OAuthError):
    code, status, description = "unsupported_grant_type", 400, "The grant_type is not valid."
    remedy = "Send a `grant_type` that the client is registered for."


class InvalidScope(OAuthError):
    code, status, description = "invalid_scope", 400, "The scope is not allowed."
    remedy = "Request only scopes that the client is registered for."


class InvalidTarget(OAuthError):
    """The `resource` is not registered for the client, or was not granted (RFC 8707 section 2)."""

    code, status, description = "invalid_target", 400, "The resource is not registered for this client."
    remedy = "Send a `resource` that the client is registered for."


class InvalidAuthorizationDetails(OAuthError):
    """Malformed `authorization_details`, of a type that the client may not use, or more than was granted (RFC 9396 section 5)."""

    code, status, description = "invalid_authorization_details", 400, "The authorization_details are not valid."
    remedy = "Send only types that the client is registered for, in the form of RFC 9396."


class AuthorizationPending(OAuthError):
    """The person has not answered yet (RFC 8628 section 3.5)."""

    code, status, description = "authorization_pending", 400, "The person has not answered yet."
    remedy = "Poll again after `interval` seconds."


class PollSlower(OAuthError):
    """The device asked before its interval was over; the interval is five seconds longer from now on."""

    code, status, description = "slow_down", 400, "Ask less often."
    remedy = "From now on, wait 5 seconds longer between two polls."


class AccessDenied(OAuthError):
    code, status, description = "access_denied", 400, "The person denied access."
    remedy = "The request ends here. Offer to start again."


class ExpiredDeviceCode(OAuthError):
    code, status, description = "expired_token", 400, "The device_code has expired."
    remedy = "Start the device sign-in again."


class UnsupportedResponseType(OAuthError):
    code, status, description = "unsupported_response_type", 400, "The response_type is not valid."
    remedy = "Send a `response_type` that the client is registered for."


class InvalidRequestObject(OAuthError):
    """The request object is not signed by the client, or is wrong (RFC 9101 section 7)."""

    code, status, description = "invalid_request_object", 400, "The request object is not valid."
    remedy = "Check its signature, issuer, audience and expiry."


class RegistrationNotSupported(OAuthError):
    code, status, description = "registration_not_supported", 400, "The parameter registration is not supported."
    remedy = "Leave it out, and register the client instead."


class UnmetAuthenticationRequirements(OAuthError):
    """An essential `acr` that can never be met."""

    code, status = "unmet_authentication_requirements", 400
    description = "The required authentication is not available."
    remedy = "Ask for an `acr` that the tenant offers."


class InvalidRedirectUri(OAuthError):
    """A redirect URI of the registration is malformed or not allowed (RFC 7591 section 3.2.2)."""

    code, status, description = "invalid_redirect_uri", 400, "A redirect URI is not allowed."
    remedy = "Use https, or http on localhost, without a fragment."


class InvalidClientMetadata(OAuthError):
    """The registration is malformed, contradicts itself or asks for something that is not served (RFC 7591 section 3.2.2)."""

    code, status, description = "invalid_client_metadata", 400, "The client metadata is not valid."
    remedy = "`error_description` names the member."


class InvalidSoftwareStatement(OAuthError):
    """The software statement is malformed, expired or not signed by its issuer (RFC 7591 section 3.2.2)."""

    code, status, description = "invalid_software_statement", 400, "The software statement is not valid."
    remedy = "Check its signature and expiry."


class UnapprovedSoftwareStatement(OAuthError):
    """The tenant does not trust the issuer of the software statement (RFC 7591 section 3.2.2)."""

    code, status, description = (
        "unapproved_software_statement",
        400,
        "The issuer of the software statement is not known.",
    )
    remedy = "Ask the tenant’s operator to accept the issuer."


class RegistrationClosed(OAuthError):
    """The tenant does not let applications register themselves, or has reached its limit."""

    code, status, description = "access_denied", 403, "Applications cannot register here."
    remedy = "Ask the tenant’s operator for an initial access token, or to open registration."


class InvalidToken(OAuthError):
    """The access token is missing, unknown, revoked or expired (RFC 6750 section 3.1)."""

    code, status, description = "invalid_token", 401, "The access token is not valid."
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    remedy = "Refresh it, or sign in again."


class MissingToken(InvalidToken):
    """The request has no access token: the challenge names no error (RFC 6750 section 3.1)."""

    headers = {"WWW-Authenticate": 'Bearer realm="account"'}


class MalformedTokenRequest(InvalidRequest):
    """The access token is sent twice, or by a method that the endpoint does not accept (RFC 6750 sections 2 and 3.1)."""

    headers = {"WWW-Authenticate": 'Bearer error="invalid_request"'}
    remedy = "`error_description` names the parameter."


class BoundTokenRefused(InvalidToken):
    """The token is bound to a key that the request does not prove; the check writes the challenge (RFC 9449 section 7.1)."""

    headers = {}


class TokenDpopProofRefused(BoundTokenRefused):
    """The DPoP proof that comes with an access token is wrong."""

    code, description = "invalid_dpop_proof", "The DPoP proof is not valid."


class BoundTokenNeedsNonce(BoundTokenRefused):
    """The DPoP proof that comes with an access token lacks the present nonce (RFC 9449 section 9)."""

    code, description = "use_dpop_nonce", "The DPoP proof needs the nonce of the header DPoP-Nonce."


class InsufficientScope(OAuthError):
    code, status, description = "insufficient_scope", 403, "The access token lacks the scope that this needs."
    headers = {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}
    remedy = "Include the scope in the authorization request."


class InvalidDpopProof(OAuthError):
    """The DPoP proof of a client's request is missing or wrong (RFC 9449 section 5)."""

    code, status, description = "invalid_dpop_proof", 400, "The DPoP proof is not valid."
    remedy = "Create a new proof for this method and URL, with the current time (RFC 9449)."


class UseDpopNonce(OAuthError):
    """The DPoP proof of a client's request lacks the present nonce, which is in the header DPoP-Nonce (RFC 9449 section 8)."""

    code, status, description = "use_dpop_nonce", 400, "The DPoP proof needs the nonce of the header DPoP-Nonce."
    remedy = "Repeat the request with a proof that contains this nonce."


class UnknownApplication(OAuthError):
    """The address names no application of this tenant."""

    code, status, description = "not_found", 404, "No application of this name is served here."
    remedy = "Check the application’s name in the path."


class RequestNotSupported(OAuthError):
    """An OpenID request without the scope `openid`."""

    code, status, description = "request_not_supported", 400, "The scope openid is missing."
    remedy = "Add `openid` to the scope."


class ServerError(OAuthError):
    code, status, description = "server_error", 500, "An unexpected failure. Try again later."
    remedy = "If it happens again, look for the cause in the server’s log."


class SlowDown(OAuthError):
    """Too many requests of one client or address (answered with Retry-After)."""

    code, status, description = "temporarily_unavailable", 429, "Too many requests."
    remedy = "Wait for the number of seconds in `Retry-After`, then try again."
