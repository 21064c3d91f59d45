"""Errors of custom objects."""

from app.kit.operations.errors import ApiError


class MalformedRecordId(ApiError):
    code, status, message = 995, 403, "Unique record ID is invalid"
    description = "The record ID is malformed."


class CustomObjectsOff(ApiError):
    code, status, message = 999, 403, "Site is not configured for custom object setting"
    description = "Custom objects are off for this tenant."


class WrongObjectId(ApiError):
    code, status, message = 1001, 403, "Custom object ID is invalid"
    description = "The tenant has no custom object with this ID."


class ObjectFull(ApiError):
    code, status, message = 1002, 403, "Maximum limit has reached for this custom object"
    description = "The account has the maximum number of records of this custom object. Delete one first."


class MalformedObject(ApiError):
    code, status, message = 1035, 400, "Custom object JSON is invalid"
    description = "The body isn’t a JSON object."


class ObjectNameMissing(ApiError):
    code, status, message = 1036, 400, "Custom object ID is required"
    description = "Send objectname or customobjectid."


class NoSuchObject(ApiError):
    code, status, message = 1057, 403, "Custom object is not found or does not exist"
    description = "The account has no such record."


class UnknownObjectName(ApiError):
    code, status, message = 1064, 403, "Custom object name is invalid"
    description = "The tenant has no custom object with this name."
