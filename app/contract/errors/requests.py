"""Errors of the border itself: keys, secrets, bodies, tokens (interface errors.md sections 1 and 2)."""

from app.kit.errors import ApiError


class BadParameter(ApiError):
    code, status, message = 908, 400, "A parameter is not formatted correctly"
    description = "A parameter is missing or malformed."


class PasswordRequired(BadParameter):
    """The same number with a message of its own, where a server sets a password (interface account.md section 0)."""

    message = "Password is required"


class UnknownKey(ApiError):
    code, status, message = 901, 403, "The API key is unauthorized"
    description = "API key unknown or not allowed for this tenant."


class MalformedKey(ApiError):
    code, status, message = 920, 400, "API key is invalid"
    description = "API key is not a GUID-shaped value."


class WrongSecret(ApiError):
    code, status, message = 902, 401, "The API secret is unauthorized"
    description = "API secret unknown or not allowed."


class MalformedSecret(ApiError):
    code, status, message = 921, 400, "API secret is invalid"
    description = "API secret is not a GUID-shaped value."


class MissingSecret(ApiError):
    code, status, message = 923, 400, "API secret is missing"
    description = "No API secret in the request."


class EndpointForbidden(ApiError):
    code, status, message = 909, 403, "Your site does not have permission to access this endpoint"
    description = "Tenant may not call this endpoint."


class TrialExpired(ApiError):
    code, status, message = 6003, 403, "Trial plan expired"
    description = "Trial ended; contact support."


class Dangerous(ApiError):
    code, status, message = 1214, 400, "Dangerous request"
    description = "Markup or script found in a value."


class BadContentType(ApiError):
    code, status, message = 1083, 400, "This content type header is not supported"
    description = "The operation does not take a body of this content type."


class BadPostBody(ApiError):
    code, status, message = 965, 400, "The post body is invalid"
    description = "POST body absent or not JSON."


class BadPutBody(ApiError):
    code, status, message = 1079, 400, "Put body is invalid or empty"
    description = "PUT body absent or not JSON."


class BadDeleteBody(ApiError):
    code, status, message = 1084, 400, "Delete body is invalid"
    description = "DELETE body absent or not JSON."


class UnparsablePayload(ApiError):
    code, status, message = 1090, 400, "Invalid request body or payload"
    description = "Body could not be parsed."


class NotAuthenticated(ApiError):
    code, status, message = 1409, 401, "Authentication failed"
    description = "The token or the credentials are not accepted."
    camel = True


class InvalidAccessToken(ApiError):
    code, status, message = 905, 403, "Access token is invalid"
    description = "Access token not valid or revoked."


class ExpiredAccessToken(ApiError):
    code, status, message = 906, 403, "Access token has expired"
    description = "Access token past its life."


class MissingAccessToken(ApiError):
    code, status, message = 1060, 400, "Access token is missing"
    description = "Access token absent."


class SecretForbidden(ApiError):
    code, status, message = 1143, 403, "Access Unauthorized"
    description = "Secret lacks this right."


class AccessRefused(ApiError):
    """The token was issued to an application that may not call this operation."""

    code, status, message = 1143, 403, "Access Unauthorized"
    description = "The application's access token may not call this operation."


class FreshSignInRequired(ApiError):
    """The session's last sign-in or step-up is too old for a change of credentials."""

    code, status, message = 1193, 403, "Two factor validation token is invalid"
    description = "Sign in again or step up first: this requires a sign-in or step-up within the last 10 minutes."


class IpRefused(ApiError):
    code, status, message = 1206, 403, "IP Access Denied"
    description = "Caller IP refused by the tenant."


class SignatureMissing(ApiError):
    code, status, message = 1207, 400, "API signature is missing"
    description = "No signature (Strict mode)."


class SignatureWrong(ApiError):
    code, status, message = 1208, 400, "API signature is invalid"
    description = "Signature does not match."


class SignatureOrSecretMissing(ApiError):
    code, status, message = 1209, 400, "API-Signature/API-Secret is missing"
    description = "Neither signature nor secret."


class ExpiryMissing(ApiError):
    code, status, message = 1210, 400, "Request expiry time is missing"
    description = "No expiry header."


class ExpiryMalformed(ApiError):
    code, status, message = 1211, 400, "The request expiry time has an invalid format"
    description = "Expiry unparsable."


class ExpiryPassed(ApiError):
    code, status, message = 1212, 403, "The request expiry time is invalid"
    description = "Expiry passed."


class MachineRefused(ApiError):
    code, status, message = 6002, 403, "Access Unauthorized"
    description = "Machine token absent, wrong, or without the scope."


class BadField(ApiError):
    code, status, message = 7900, 400, "A parameter is not formatted correctly"
    description = "A field is missing or malformed."


class BrokenManage(ApiError):
    code, status, message = 7909, 500, "Operation failed due to an internal error"
    description = "Retry later."


class BadManagePost(ApiError):
    code, status, message = 7914, 400, "Post body is invalid"
    description = "Body not JSON."


class BadManagePut(ApiError):
    code, status, message = 7934, 400, "Put body is invalid"
    description = "Body not JSON."


class Broken(ApiError):
    code, status, message = 950, 500, "Operation failed due to an unknown error"
    description = "An unexpected failure. Try again later."


class TooManyRequests(ApiError):
    """Over a rate limit; answered with Retry-After (interface limits.md section 1)."""

    code, status, message = 429, 429, "Too Many Request"
    description = "Too many requests. Wait and try again."


class UnknownTenant(ApiError):
    """The host names no tenant."""

    code, status, message = 942, 403, "Site does not exist"
    description = "No tenant is served at this address."


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


class RestrictionNotSet(ApiError):
    code, status, message = 8111, 404, "Restriction configuration not found"
    description = "No list set."


class EntryInBothLists(ApiError):
    code, status, message = 8190, 400, "Same entry in both lists"
    description = "Allow and block overlap."


class UnknownTheme(ApiError):
    code, status, message = 8191, 404, "Theme not found"
    description = "No theme with this id."


class UnknownDomain(ApiError):
    code, status, message = 8192, 404, "Custom domain not found"
    description = "The tenant has no custom domain of this name."
