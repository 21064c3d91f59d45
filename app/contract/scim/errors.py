"""The errors of the management of SCIM connections. The interface has no codes of its own for them."""

from app.kit.operations.errors import ApiError


class UnknownScimConnection(ApiError):
    """A connection of another tenant is unknown, too."""

    code, status, message = 8206, 404, "SCIM connection not found"
    description = "The tenant has no SCIM connection with this ID."


class UnknownScimToken(ApiError):
    """A token of another connection is unknown, too."""

    code, status, message = 8207, 404, "SCIM token not found"
    description = "The SCIM connection has no token with this ID."


class TooManyScimConnections(ApiError):
    """A limit of one organization, or of the tenant itself."""

    code, status, message = 8208, 403, "SCIM connection limit reached"
    description = "There is the maximum number of SCIM connections. Delete one first."


class TooManyScimTokens(ApiError):
    """A limit of one connection: two are needed to replace one."""

    code, status, message = 8209, 403, "SCIM token limit reached"
    description = "The SCIM connection has the maximum number of tokens. Revoke one first."
