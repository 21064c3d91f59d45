"""Errors of accounts of other providers (interface user.md sections 2 and 3)."""

from app.kit.errors import ApiError


class WrongCandidate(ApiError):
    code, status, message = 905, 403, "Access token is invalid"
    description = "The candidate token is wrong or was revoked. Start the social sign-in again."


class NotLinkable(ApiError):
    code, status, message = 983, 403, "Account cannot be linked"
    description = "The identity can’t be connected: the token isn’t from a social sign-in, or the account has too many identities."


class IdentityTaken(ApiError):
    code, status, message = 986, 403, "Account is already linked"
    description = "The identity is connected to another account. Disconnect it there first."


class NothingToUnlink(ApiError):
    code, status, message = 987, 403, "Account cannot be unlinked"
    description = "The account has no connected identity."


class UnknownIdentity(ApiError):
    code, status, message = 1065, 403, "Provider name or Provider Id is invalid"
    description = "The account has no connected identity with this provider and ID. Check both."


class UnknownProvider(ApiError):
    code, status, message = 1078, 403, "Provider is invalid"
    description = "There’s no provider with this name."


class AccountLinkingOff(ApiError):
    code, status, message = 1054, 403, "Account linking is disabled"
    description = "Connecting identities is off for this tenant."


class UnknownConnection(ApiError):
    code, status, message = 1190, 403, "This Social Provider Name is not Valid"
    description = "There’s no social provider with this name."


class ConnectionNotConfigured(ApiError):
    code, status, message = 1223, 403, "Social provider has not been configured for the site"
    description = "The provider isn’t set up for this tenant. Add its client ID and secret."


class NoProviderProfile(ApiError):
    code, status, message = 910, 403, "Endpoint is not supported by the current provider"
    description = "The account didn’t sign in with a provider whose profile can be read again."


class ProviderFailed(ApiError):
    code, status, message = 1000, 403, "An error has occurred at the social identity provider's end"
    description = "The provider answered with an error, which is in ProviderErrorResponse."
    is_provider_error = True


class NoCallbackLoginOff(ApiError):
    code, status, message = 1160, 403, "No callback login is not enabled for your site"
    description = "Social sign-in without a callback is off for this tenant."


class OwnIdentityRequired(ApiError):
    code, status, message = 1219, 403, "Account cannot be unlinked"
    description = "The account’s own identity can’t be disconnected."


class IdentityElsewhere(ApiError):
    code, status, message = 989, 403, "Provider ID cannot be unlinked"
    description = "No identity with this provider ID is connected to the account."


class LastSignInMethod(ApiError):
    code, status, message = 1008, 403, "This provider cannot be unlinked"
    description = "The account has no other way to sign in. Set a password or connect another identity first."


class EmailOfProvider(ApiError):
    code, status = 1030, 403
    message = "This email address cannot be registered, as it is already registered under a social account"
    description = "The email address belongs to an account that signs in with a social provider. Sign in with that provider instead."


class UnknownJwtApp(ApiError):
    code, status, message = 7958, 404, "JWT configuration not found"
    description = "There’s no JWT client or provider with this name."


class JwtAppExists(ApiError):
    code, status, message = 7960, 409, "JWT configuration already exist"
    description = "There’s a JWT client or provider with this name already."


class UnknownOAuthProvider(ApiError):
    code, status, message = 7940, 404, "OAuth configuration not found"
    description = "There’s no OAuth provider with this name."


class OAuthClientExists(ApiError):
    code, status, message = 7980, 409, "OAuth client already exist"
    description = "There’s an OAuth client with this name already."


class UnknownOAuthClient(ApiError):
    code, status, message = 7981, 404, "OAuth client not found"
    description = "There’s no OAuth client with this name."


class InitialAccessTokenExists(ApiError):
    code, status, message = 7982, 409, "Initial access token already exists"
    description = "There’s an initial access token with this name already."


class UnknownInitialAccessToken(ApiError):
    code, status, message = 7983, 404, "Initial access token not found"
    description = "There’s no initial access token with this name."


class ProviderDomainExists(ApiError):
    code, status, message = 8038, 409, "Domain name already exists"
    description = "Another provider has this email domain. A domain can have one provider."


class UnknownSamlApp(ApiError):
    code, status, message = 7938, 404, "SAML configuration not found"
    description = "There’s no SAML client or provider with this name."


class SamlAppExists(ApiError):
    code, status, message = 7939, 409, "SAML configuration already exist"
    description = "There’s a SAML client or provider with this name already."


class ProviderTokenMissing(ApiError):
    code, status, message = 929, 400, "Access token is missing from social ID provider"
    description = "Send the access token that the provider’s SDK returned."


class ProviderTokenSecretMissing(ApiError):
    code, status, message = 930, 400, "Token secret is missing from social ID provider"
    description = "Send the token secret that the provider’s SDK returned with the access token."


class ProviderRefreshTokenMissing(ApiError):
    code, status, message = 1337, 400, "Refresh token is missing from social ID provider"
    description = "Send the refresh token that the provider’s SDK returned."


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
