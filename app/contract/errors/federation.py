"""Errors of accounts of other providers (interface user.md sections 2 and 3)."""

from app.kit.errors import ApiError


class WrongCandidate(ApiError):
    code, status, message = 905, 403, "Access token is invalid"
    description = "Candidate token not valid or revoked."


class NotLinkable(ApiError):
    code, status, message = 983, 403, "Account cannot be linked"
    description = "This identity cannot be linked: it is not one of another provider."


class IdentityTaken(ApiError):
    code, status, message = 986, 403, "Account is already linked"
    description = "Identity linked to another account already."


class NothingToUnlink(ApiError):
    code, status, message = 987, 403, "Account cannot be unlinked"
    description = "Account has no second identity to unlink."


class UnknownIdentity(ApiError):
    code, status, message = 1065, 403, "Provider name or Provider Id is invalid"
    description = "Provider name or id wrong."


class UnknownProvider(ApiError):
    code, status, message = 1078, 403, "Provider is invalid"
    description = "Provider name not valid for link/unlink."


class AccountLinkingOff(ApiError):
    code, status, message = 1054, 403, "Account linking is disabled"
    description = "Account linking is off."


class UnknownConnection(ApiError):
    code, status, message = 1190, 403, "This Social Provider Name is not Valid"
    description = "Provider unknown."


class ConnectionNotConfigured(ApiError):
    code, status, message = 1223, 403, "Social provider has not been configured for the site"
    description = "Provider not configured."


class NoProviderProfile(ApiError):
    code, status, message = 910, 403, "Endpoint is not supported by the current provider"
    description = "Provider of this profile has no such data."


class ProviderFailed(ApiError):
    code, status, message = 1000, 403, "An error has occurred at the social identity provider's end"
    description = "Provider answered with an error; see ProviderErrorResponse."
    is_provider_error = True


class NoCallbackLoginOff(ApiError):
    code, status, message = 1160, 403, "No callback login is not enabled for your site"
    description = "Social login without callback is off."


class OwnIdentityKept(ApiError):
    code, status, message = 1219, 403, "Account cannot be unlinked"
    description = "Own identity cannot be unlinked."


class IdentityElsewhere(ApiError):
    code, status, message = 989, 403, "Provider ID cannot be unlinked"
    description = "Provider id is not linked here."


class LastSignInMethod(ApiError):
    code, status, message = 1008, 403, "This provider cannot be unlinked"
    description = "Nothing else would open the account."


class EmailOfProvider(ApiError):
    code, status = 1030, 403
    message = "This email address cannot be registered, as it is already registered under a social account"
    description = "Address already belongs to a social account."


class UnknownJwtApp(ApiError):
    code, status, message = 7958, 404, "JWT configuration not found"
    description = "No JWT app of this name."


class JwtAppExists(ApiError):
    code, status, message = 7960, 409, "JWT configuration already exist"
    description = "Name taken."


class UnknownOAuthProvider(ApiError):
    code, status, message = 7940, 404, "OAuth configuration not found"
    description = "No OAuth provider of this name."


class OAuthClientExists(ApiError):
    code, status, message = 7980, 409, "OAuth client already exist"
    description = "Name taken."


class UnknownOAuthClient(ApiError):
    code, status, message = 7981, 404, "OAuth client not found"
    description = "No OAuth client of this name."


class InitialAccessTokenExists(ApiError):
    code, status, message = 7982, 409, "Initial access token already exists"
    description = "Name taken."


class UnknownInitialAccessToken(ApiError):
    code, status, message = 7983, 404, "Initial access token not found"
    description = "No initial access token of this name."


class ProviderDomainExists(ApiError):
    code, status, message = 8038, 409, "Domain name already exists"
    description = "Domain used by another provider."


class UnknownSamlApp(ApiError):
    code, status, message = 7938, 404, "SAML configuration not found"
    description = "No SAML app of this name."


class SamlAppExists(ApiError):
    code, status, message = 7939, 409, "SAML configuration already exist"
    description = "Name taken."


class ProviderTokenMissing(ApiError):
    code, status, message = 929, 400, "Access token is missing from social ID provider"
    description = "Provider access token absent."


class ProviderTokenSecretMissing(ApiError):
    code, status, message = 930, 400, "Token secret is missing from social ID provider"
    description = "Provider token secret absent."


class ProviderRefreshTokenMissing(ApiError):
    code, status, message = 1337, 400, "Refresh token is missing from social ID provider"
    description = "Provider refresh token absent."


class JwtWithoutSubject(ApiError):
    code, status = 1231, 403
    message = "The JWT token is missing the unique identifier, please specified unique identifier in order to process this request"
    description = "JWT lacks the unique id claim."


class JwtRefused(ApiError):
    code, status, message = 1232, 403, "JWT token is invalid"
    description = "JWT not valid."


class JwtConfigurationInvalid(ApiError):
    code, status, message = 1180, 401, "JWT configuration not valid"
    description = "The tenant has no JWT app of this name, or it cannot sign."


class JwtAppNameMissing(ApiError):
    code, status, message = 1196, 400, "The Jwt app name is a required parameter"
    description = "App name absent."
