"""Errors of registration."""

from app.kit.errors import ApiError


class SottMissing(ApiError):
    code, status, message = 1048, 400, "Secured one-time token (SOTT) is required"
    description = "Registration token absent."


class WrongSott(ApiError):
    code, status, message = 1049, 403, "Secured one-time token (SOTT) is invalid"
    description = "Registration token malformed, expired or for another key."


class PhoneMissing(ApiError):
    code, status, message = 1076, 400, "Phone number is required"
    description = "Phone absent."


class TooYoung(ApiError):
    code, status, message = 1163, 403, "You are not eligible for registration"
    description = "User younger than the tenant's minimum age."


class PolicyNotAccepted(ApiError):
    code, status, message = 1196, 403, "Privacy policy is not accepted"
    description = "Policy must be accepted to register."


class UnknownRecord(ApiError):
    code, status, message = 1150, 403, "Registration data record does not exist"
    description = "No such registration-data record."


class MalformedRecord(ApiError):
    code, status, message = 1151, 403, "Registration data record is not valid"
    description = "Registration-data record not valid."


class RecordWithoutCode(ApiError):
    code, status, message = 1152, 403, "Registration data record does not have code"
    description = "Record has no code."


class WrongRecordCode(ApiError):
    code, status, message = 1153, 403, "Registration code is not valid"
    description = "Record code wrong."


class UnknownParentRecord(ApiError):
    code, status, message = 1154, 403, "Registration data parent record does not exist"
    description = "Parent record unknown."


class NoRecords(ApiError):
    code, status, message = 1155, 403, "No record exists for this type"
    description = "No records of this type."


class NoChildRecords(ApiError):
    code, status, message = 1156, 403, "No child record exists"
    description = "No child records."


class RecordCodeMissing(ApiError):
    code, status, message = 1157, 403, "Registration code is required"
    description = "Record code absent."


class WrongRecordType(ApiError):
    code, status, message = 1158, 403, "The type is not valid for registration data."
    description = "Type not valid."


class CustomFieldExists(ApiError):
    code, status, message = 7919, 409, "Custom field is already created"
    description = "Same field exists."


class NoCustomField(ApiError):
    code, status, message = 7928, 404, "Custom field not found"
    description = "None configured."


class WrongCustomField(ApiError):
    code, status, message = 7929, 400, "Custom field is invalid"
    description = "Field name unknown."
