"""Errors of requests themselves: keys, secrets, bodies, tokens."""

from app.kit.operations.errors import ApiError


class BadParameter(ApiError):
    code, status, message = 908, 400, "A parameter is not formatted correctly"
    description = "A parameter is missing or malformed."
    remedy = "`Description` names it."


class PasswordRequired(BadParameter):
    """The same number with a message of its own, where a server sets a password."""

    message = "Password is required"


class UnknownKey(ApiError):
    code, status, message = 901, 403, "The API key is unauthorized"
    description = "No tenant has this API key. Check the key and the host."


class MalformedKey(ApiError):
    code, status, message = 920, 400, "API key is invalid"
    description = "The API key isn’t a GUID. Copy it from the tenant’s configuration."


class WrongSecret(ApiError):
    code, status, message = 902, 401, "The API secret is unauthorized"
    description = "The API secret doesn’t belong to this API key. Check it, or use the new one if it was replaced."


class MalformedSecret(ApiError):
    code, status, message = 921, 400, "API secret is invalid"
    description = "The API secret isn’t a GUID. Copy it from the tenant’s configuration."


class MissingSecret(ApiError):
    code, status, message = 923, 400, "API secret is missing"
    description = "Send the API secret, as header X-Gatehouse-ApiSecret or as query parameter."


class EndpointForbidden(ApiError):
    code, status, message = 909, 403, "Your site does not have permission to access this endpoint"
    description = "This operation is switched off for this tenant."


class TrialExpired(ApiError):
    code, status, message = 6003, 403, "Trial plan expired"
    description = "The tenant’s trial has ended."


class Dangerous(ApiError):
    code, status, message = 1214, 400, "Dangerous request"
    description = "A value contains HTML or a script, which isn’t accepted. Remove it."


class BadContentType(ApiError):
    code, status, message = 1083, 400, "This content type header is not supported"
    description = "The operation doesn’t read bodies of this Content-Type. Send application/json."


class BadPostBody(ApiError):
    code, status, message = 965, 400, "The post body is invalid"
    description = "The body is missing or isn’t valid JSON."


class BadPutBody(ApiError):
    code, status, message = 1079, 400, "Put body is invalid or empty"
    description = "The body is missing or isn’t valid JSON."


class BadDeleteBody(ApiError):
    code, status, message = 1084, 400, "Delete body is invalid"
    description = "The body isn’t valid JSON."


class UnparsablePayload(ApiError):
    code, status, message = 1090, 400, "Invalid request body or payload"
    description = "Body could not be parsed."


class NotAuthenticated(ApiError):
    code, status, message = 1409, 401, "Authentication failed"
    description = "The access token or the credentials are missing, wrong or expired. Sign in again."
    camel = True


class InvalidAccessToken(ApiError):
    code, status, message = 905, 403, "Access token is invalid"
    description = "The access token is wrong or was revoked. Sign in again."


class ExpiredAccessToken(ApiError):
    code, status, message = 906, 403, "Access token has expired"
    description = "The access token has expired. Refresh it or sign in again."


class MissingAccessToken(ApiError):
    code, status, message = 1060, 400, "Access token is missing"
    description = "Send the access token."


class SecretForbidden(ApiError):
    code, status, message = 1143, 403, "Access Unauthorized"
    description = "Secret lacks this right."


class AccessRefused(ApiError):
    """The token was issued to an application that may not call this operation."""

    code, status, message = 1143, 403, "Access Unauthorized"
    description = "The application’s access token lacks the scope that this operation needs, or applications can’t call this operation."


class FreshSignInRequired(ApiError):
    """The session's last sign-in or step-up is too old for a change of credentials."""

    code, status, message = 1193, 403, "Two factor validation token is invalid"
    description = "Sign in again or step up first: this needs a sign-in or a step-up within the last 10 minutes."


class IpRefused(ApiError):
    code, status, message = 1206, 403, "IP Access Denied"
    description = "The tenant doesn’t accept requests from this IP address."


class SignatureMissing(ApiError):
    code, status, message = 1207, 400, "API signature is missing"
    description = "The tenant accepts signed requests only. Sign the request."


class SignatureWrong(ApiError):
    code, status, message = 1208, 400, "API signature is invalid"
    description = "The signature doesn’t match the request. Check the signed text and the secret."


class SignatureOrSecretMissing(ApiError):
    code, status, message = 1209, 400, "API-Signature/API-Secret is missing"
    description = "Send the API secret or a signature."


class ExpiryMissing(ApiError):
    code, status, message = 1210, 400, "Request expiry time is missing"
    description = "Send the time when the signature expires, as header X-Request-Expires."


class ExpiryMalformed(ApiError):
    code, status, message = 1211, 400, "The request expiry time has an invalid format"
    description = "The time in the header X-Request-Expires is malformed."


class ExpiryPassed(ApiError):
    code, status, message = 1212, 403, "The request expiry time is invalid"
    description = "The signature has expired. Sign the request again, and check your server’s clock."


class MachineRefused(ApiError):
    code, status, message = 6002, 403, "Access Unauthorized"
    description = "The machine token is missing, wrong or expired, or lacks a scope that the request needs."


class BadField(ApiError):
    code, status, message = 7900, 400, "A parameter is not formatted correctly"
    description = "A field is missing or malformed."
    remedy = "`Description` names it."


class BrokenManage(ApiError):
    code, status, message = 7909, 500, "Operation failed due to an internal error"
    description = "Something failed on the server. Try again later."


class BadManagePost(ApiError):
    code, status, message = 7914, 400, "Post body is invalid"
    description = "The body isn’t valid JSON."


class BadManagePut(ApiError):
    code, status, message = 7934, 400, "Put body is invalid"
    description = "The body isn’t valid JSON."


class Broken(ApiError):
    code, status, message = 950, 500, "Operation failed due to an unknown error"
    description = "Something failed on the server. Try again later."


class TooManyRequests(ApiError):
    """Over a rate limit; answered with Retry-After."""

    code, status, message = 429, 429, "Too Many Request"
    description = "Too many requests. Wait for the number of seconds in Retry-After, then try again."


class AnotherAccount(ApiError):
    """The form was rendered for another account than the session's; nothing was changed."""

    code, status, message = 8195, 409, "Another account is signed in"
    description = "The page was opened as another account."


class HubRefused(ApiError):
    """The call does not carry the hub's signature."""

    code, status, message = 909, 403, "Your site does not have permission to access this endpoint"
    description = "Only the hub may call this."


SIGNATURE_ERRORS = (
    SignatureMissing,
    SignatureWrong,
    SignatureOrSecretMissing,
    ExpiryMissing,
    ExpiryMalformed,
    ExpiryPassed,
)
