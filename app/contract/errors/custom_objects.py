"""Errors of custom objects."""

from app.kit.errors import ApiError


class MalformedRecordId(ApiError):
    code, status, message = 995, 403, "Unique record ID is invalid"
    description = "Record id not valid."


class CustomObjectsOff(ApiError):
    code, status, message = 999, 403, "Site is not configured for custom object setting"
    description = "Custom objects off for the tenant."


class WrongObjectId(ApiError):
    code, status, message = 1001, 403, "Custom object ID is invalid"
    description = "Custom object id wrong or unknown."


class ObjectFull(ApiError):
    code, status, message = 1002, 403, "Maximum limit has reached for this custom object"
    description = "Record limit of this object reached."


class MalformedObject(ApiError):
    code, status, message = 1035, 400, "Custom object JSON is invalid"
    description = "Record body is not a JSON object."


class ObjectNameMissing(ApiError):
    code, status, message = 1036, 400, "Custom object ID is required"
    description = "Custom object name or id absent."


class NoSuchObject(ApiError):
    code, status, message = 1057, 403, "Custom object is not found or does not exist"
    description = "User has no record of this object."


class UnknownObjectName(ApiError):
    code, status, message = 1064, 403, "Custom object name is invalid"
    description = "Custom object name unknown."
