"""Errors of messages: sending limits, and the tenants' own templates."""

from app.kit.operations.errors import ApiError


class MailTemplateNotConfigured(ApiError):
    code, status, message = 7922, 404, "Email template is not configured"
    description = "The tenant has no template of its own of this type, so the built-in one is sent."


class UnknownMailTemplate(ApiError):
    code, status, message = 7923, 404, "Email template not found"
    description = "There’s no email template with this name."


class MailTemplateExists(ApiError):
    code, status, message = 7930, 409, "Email template already exist"
    description = "There’s an email template with this name already."


class UnknownSmsTemplate(ApiError):
    code, status, message = 7954, 404, "SMS template is not configured or the resource does not exist"
    description = "There’s no text message template with this name."


class SmsTemplateExists(ApiError):
    code, status, message = 7955, 409, "SMS template already exist."
    description = "There’s a text message template with this name already."


class UnknownSmsType(ApiError):
    code, status, message = 7959, 400, "Invalid SMS Template type"
    description = "There’s no such type of text message template."


class UnknownMailType(ApiError):
    code, status, message = 8099, 400, "Invalid email template type"
    description = "There’s no such type of email template."


class MailLimitReached(ApiError):
    code, status, message = 1122, 403, "You have reached a limit for sending emails"
    description = "The account has reached its limit of emails of this kind. Try again later."


class SmsLimitReached(ApiError):
    code, status, message = 1123, 403, "You have reached a limit for sending SMS"
    description = "The account has reached its limit of text messages of this kind. Try again later."


class NoSmsConfiguration(ApiError):
    code, status, message = 1071, 403, "The SMS configuration does not exist"
    description = "The tenant can’t send text messages. Set up an SMS provider."


class VoiceOtpOff(ApiError):
    code, status, message = 1281, 403, "Voice OTP has not been configured"
    description = "Codes by phone call aren’t set up for this tenant."


class SharedSmsLimitReached(ApiError):
    code, status, message = 1149, 403, "Your default Configured SMS Sending Limit Exceed"
    description = (
        "The shared SMS provider has reached its limit. Try again later, or set up an SMS provider of your own."
    )
