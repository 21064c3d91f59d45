"""Errors of SAML clients and providers."""

from app.kit.operations.errors import ApiError


class UnknownSamlApp(ApiError):
    code, status, message = 7938, 404, "SAML configuration not found"
    description = "There’s no SAML client or provider with this name."


class SamlAppExists(ApiError):
    code, status, message = 7939, 409, "SAML configuration already exist"
    description = "There’s a SAML client or provider with this name already."


class SamlConfigurationInvalid(ApiError):
    code, status, message = 1197, 401, "The SAML configuration not valid"
    description = (
        "The tenant has no active SAML client of this name, or it lacks a certificate, an entity ID or an address."
    )
