"""Errors of accounts' roles and role contexts."""

from app.kit.operations.errors import ApiError


class UnknownRoleName(ApiError):
    code, status, message = 1047, 403, "Role does not exist"
    description = "The tenant has no role with this name. Create it first."


class UnknownRoleContext(ApiError):
    code, status, message = 1133, 403, "Role Context Name is not Valid"
    description = "The account has no such role context, or its name isn’t valid."


class UnknownPermission(ApiError):
    code, status, message = 1142, 403, "Additional Permission does not exist"
    description = "The role or the role context doesn’t have this permission."


class MalformedExpiration(ApiError):
    code, status, message = 1172, 400, "Invalid date"
    description = "The expiration is malformed. Send a date such as 12/31/2027 11:59:59 PM or 2027-12-31T23:59:59Z."


class RoleNameRefused(ApiError):
    code, status, message = 1175, 403, "Role Name is not valid or already exists"
    description = "The role’s name isn’t valid, or another role has this name."
