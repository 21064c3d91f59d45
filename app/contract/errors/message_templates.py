"""Errors of the tenants' own mails and text messages (interface errors.md section 2)."""

from app.kit.errors import ApiError


class MailTemplateNotConfigured(ApiError):
    code, status, message = 7922, 404, "Email template is not configured"
    description = "No email settings or template type not set up."


class UnknownMailTemplate(ApiError):
    code, status, message = 7923, 404, "Email template not found"
    description = "No such template."


class MailTemplateExists(ApiError):
    code, status, message = 7930, 409, "Email template already exist"
    description = "Same template name."


class UnknownSmsTemplate(ApiError):
    code, status, message = 7954, 404, "SMS template is not configured or the resource does not exist"
    description = "No such template."


class SmsTemplateExists(ApiError):
    code, status, message = 7955, 409, "SMS template already exist."
    description = "Name taken."


class UnknownSmsType(ApiError):
    code, status, message = 7959, 400, "Invalid SMS Template type"
    description = "Type not in the list."


class UnknownMailType(ApiError):
    code, status, message = 8099, 400, "Invalid email template type"
    description = "Type not in the list."
