"""Errors of registration."""

from app.kit.operations.errors import ApiError


class SottMissing(ApiError):
    code, status, message = 1048, 400, "Secured one-time token (SOTT) is required"
    description = "Send a secured one-time token, as header X-Gatehouse-Sott or as query parameter sott."


class WrongSott(ApiError):
    code, status, message = 1049, 403, "Secured one-time token (SOTT) is invalid"
    description = (
        "The secured one-time token is malformed, has expired or belongs to another API key. Create a new one."
    )


class PhoneMissing(ApiError):
    code, status, message = 1076, 400, "Phone number is required"
    description = "Send the phone number."


class TooYoung(ApiError):
    code, status, message = 1163, 403, "You are not eligible for registration"
    description = "The birth date is below the tenant’s minimum age."


class PolicyNotAccepted(ApiError):
    code, status, message = 1196, 403, "Privacy policy is not accepted"
    description = "Sign-up requires the privacy notice. Once the person accepts it, send AcceptPrivacyPolicy as true."


class UnknownRecord(ApiError):
    code, status, message = 1150, 403, "Registration data record does not exist"
    description = "There’s no choice with this ID."


class MalformedRecord(ApiError):
    code, status, message = 1151, 403, "Registration data record is not valid"
    description = "The choice belongs to another field of the sign-up form. Send the field’s name as DataSource."


class RecordWithoutCode(ApiError):
    code, status, message = 1152, 403, "Registration data record does not have code"
    description = "The choice has no code to check."


class WrongRecordCode(ApiError):
    code, status, message = 1153, 403, "Registration code is not valid"
    description = "The code doesn’t belong to the choice."


class UnknownParentRecord(ApiError):
    code, status, message = 1154, 403, "Registration data parent record does not exist"
    description = "There’s no parent choice with this ID."


class NoRecords(ApiError):
    code, status, message = 1155, 403, "No record exists for this type"
    description = "The field has no choices."


class NoChildRecords(ApiError):
    code, status, message = 1156, 403, "No child record exists"
    description = "There are no choices below this one."


class RecordCodeMissing(ApiError):
    code, status, message = 1157, 403, "Registration code is required"
    description = "Send the code of the choice."


class WrongRecordType(ApiError):
    code, status, message = 1158, 403, "The type is not valid for registration data."
    description = "The sign-up form has no such drop-down field."


class CustomFieldExists(ApiError):
    code, status, message = 7919, 409, "Custom field is already created"
    description = "There’s a custom field with this name already."


class NoCustomField(ApiError):
    code, status, message = 7928, 404, "Custom field not found"
    description = "The tenant has no custom fields."


class WrongCustomField(ApiError):
    code, status, message = 7929, 400, "Custom field is invalid"
    description = "There’s no custom field with this name."
