"""Errors of JWT sign-on, and of JWT clients and providers."""

from app.kit.operations.errors import ApiError


class UnknownJwtApp(ApiError):
    code, status, message = 7958, 404, "JWT configuration not found"
    description = "There’s no JWT client or provider with this name."


class JwtAppExists(ApiError):
    code, status, message = 7960, 409, "JWT configuration already exist"
    description = "There’s a JWT client or provider with this name already."


class JwtWithoutSubject(ApiError):
    code, status = 1231, 403
    message = "The JWT token is missing the unique identifier, please specified unique identifier in order to process this request"
    description = "The JWT has no claim that identifies the user."


class JwtRefused(ApiError):
    code, status, message = 1232, 403, "JWT token is invalid"
    description = "The JWT isn’t valid: its signature, issuer, audience or expiry is wrong."


class JwtConfigurationInvalid(ApiError):
    code, status, message = 1180, 401, "JWT configuration not valid"
    description = "The tenant has no JWT client of this name, or it can’t sign. Check the client’s key and algorithm."


class JwtAppNameMissing(ApiError):
    code, status, message = 1196, 400, "The Jwt app name is a required parameter"
    description = "Send the name of the JWT client."
