"""SCIM's errors (RFC 7644 section 3.12, RFC 9865 section 2.1)."""

from app.kit.operations.errors import ScimError


class ScimInvalidSyntax(ScimError):
    code, status, description, has_scim_type = "invalidSyntax", 400, "The body is not a SCIM message.", True
    remedy = "Send one JSON object as `application/scim+json`."


class ScimInvalidFilter(ScimError):
    code, status, description, has_scim_type = "invalidFilter", 400, "The filter is malformed.", True
    remedy = "`detail` names what the filter lacks."


class ScimInvalidPath(ScimError):
    code, status, description, has_scim_type = "invalidPath", 400, "The path names no attribute.", True
    remedy = "Send a path of an attribute that `/Schemas` lists."


class ScimInvalidValue(ScimError):
    code, status, description, has_scim_type = "invalidValue", 400, "A value is missing or malformed.", True
    remedy = "`detail` names the attribute."


class ScimInvalidCursor(ScimError):
    code, status, description, has_scim_type = "invalidCursor", 400, "The cursor belongs to another query.", True
    remedy = "Begin again without a cursor."


class ScimNoTarget(ScimError):
    code, status, description, has_scim_type = "noTarget", 400, "The path selects no value.", True
    remedy = "Add the value first, or change the filter of the path."


class ScimMutability(ScimError):
    code, status, description, has_scim_type = "mutability", 400, "The attribute cannot be changed.", True
    remedy = "Leave out read-only attributes."


class ScimTooMany(ScimError):
    code, status, description, has_scim_type = "tooMany", 400, "The request covers too many resources.", True
    remedy = "Filter by `userName`, `externalId`, `id` or an email address, or send fewer members at once."


class ScimUniqueness(ScimError):
    code, status, description, has_scim_type = "uniqueness", 409, "Another resource has this value.", True
    remedy = "Find the existing resource by a filter, and change it."


class ScimUnauthorized(ScimError):
    code, status, description = "unauthorized", 401, "The SCIM token is missing, expired or revoked."
    headers = {"WWW-Authenticate": 'Bearer realm="scim"'}
    remedy = "Send a token of the connection as `Authorization: Bearer …`."


class ScimForbidden(ScimError):
    code, status, description = "forbidden", 403, "The SCIM token lacks the scope of this request."
    remedy = "Create a token with the scope that `detail` names."


class ScimNotFound(ScimError):
    code, status, description = "notFound", 404, "There is no such resource."
    remedy = "A token of an organization sees only that organization’s people and roles."


class ScimPreconditionFailed(ScimError):
    code, status, description = "preconditionFailed", 412, "The resource has changed since it was read."
    remedy = "Read it again, and send its new version as `If-Match`."


class ScimPayloadTooLarge(ScimError):
    code, status, description = "payloadTooLarge", 413, "The request is too large."
    remedy = "`/ServiceProviderConfig` has the limits."


class ScimWrongMethod(ScimError):
    code, status, description = "methodNotAllowed", 405, "This address does not answer this method."


class ScimTooManyRequests(ScimError):
    code, status, description = "tooManyRequests", 429, "Too many requests. Wait for the seconds in Retry-After."
    remedy = "Send at most 50 requests a second."


class ScimPaused(ScimError):
    code, status, description = "paused", 503, "The connection is paused. Send the request again later."
    remedy = "An administrator turned the connection off for a while. Nothing was changed."


class ScimServerError(ScimError):
    code, status, description = "serverError", 500, "An unexpected failure. Try again later."
