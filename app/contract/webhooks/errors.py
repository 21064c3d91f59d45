"""Errors of webhooks; the older addresses have their own."""

from app.kit.operations.errors import ApiError


class UnknownWebhook(ApiError):
    code, status, message = 7986, 404, "WebHook configuration not found"
    description = "There is no webhook with this ID."


class WebhookExists(ApiError):
    code, status, message = 7989, 409, "WebHook is already subscribed"
    description = "A webhook sends this event to this URL. Change that one, or delete it first."


class TooManyWebhooks(ApiError):
    code, status, message = 1085, 403, "Number of Webhook subscriptions exceed to limit"
    description = "The tenant has as many webhooks as it can have. Delete one first."


class WebhookEventRefused(ApiError):
    code, status, message = 1086, 403, "Event parameter is invalid"
    description = "There is no event with this name."


class WebhookUrlRefused(ApiError):
    code, status, message = 1087, 403, "Webhook target URL is invalid"
    description = "The target is not an https URL, or it has a user name, a password or a fragment."


class WebhookUrlTaken(ApiError):
    code, status, message = 1110, 403, "Webhook target URL is already subscribed"
    description = "A webhook sends this event to this URL already."


class WebhookNotSubscribed(ApiError):
    code, status, message = 1112, 403, "Webhook target URL is not subscribed"
    description = "There is no such webhook."
