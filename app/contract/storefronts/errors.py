"""Errors of the sign-on at storefronts and booking systems; other operations give the numbers other
meanings."""

from app.kit.operations.errors import ApiError


class HostedPluginNotFound(ApiError):
    code, status, message = 1178, 401, "Hosted Plugin configuration not found"
    description = "No store or site of this name is set up."


class HostedPluginInvalid(ApiError):
    code, status, message = 1192, 401, "The Hosted Plugin configuration not valid"
    description = "A secret of the store or site is missing. Complete its settings."


class StoreNameMissing(ApiError):
    code, status, message = 1193, 400, "The store name is a required parameter"
    description = "Send the store’s name as store."


class StorefrontFailed(ApiError):
    code, status, message = 1195, 401, "Storefront API Error"
    description = "The store didn’t answer, or refused the request. Try again later."


class SessionCallMissing(ApiError):
    """Elsewhere the interface gives this number another meaning."""

    code, status, message = 2017, 400, "The Hosted Plugin mapping fields are required"
    description = "The site has no SessionUrl. Set the address of the server that begins sessions."


class BookingSystemFailed(ApiError):
    """The interface gives a failure of the booking system this number and message."""

    code, status, message = 2016, 401, "The SAML Authenticate Request is not found"
    description = "PerfectMind, or your server at SessionUrl, didn’t answer or refused the request. Try again later."
