"""Errors of accounts of other providers."""

from app.kit.operations.errors import ApiError


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


class UnknownOAuthProvider(ApiError):
    code, status, message = 7940, 404, "OAuth configuration not found"
    description = "There’s no OAuth provider with this name."


class ProviderDomainExists(ApiError):
    code, status, message = 8038, 409, "Domain name already exists"
    description = "Another provider has this email domain. A domain can have one provider."


class ProviderTokenMissing(ApiError):
    code, status, message = 929, 400, "Access token is missing from social ID provider"
    description = "Send the access token that the provider’s SDK returned."


class ProviderTokenSecretMissing(ApiError):
    code, status, message = 930, 400, "Token secret is missing from social ID provider"
    description = "Send the token secret that the provider’s SDK returned with the access token."


class ProviderRefreshTokenMissing(ApiError):
    code, status, message = 1337, 400, "Refresh token is missing from social ID provider"
    description = "Send the refresh token that the provider’s SDK returned."


class UnknownLdapProvider(ApiError):
    code, status, message = 7966, 404, "LDAP configuration not found"
    description = "There’s no LDAP provider with this name."


class LdapProviderExists(ApiError):
    code, status, message = 7967, 409, "LDAP configuration already exists"
    description = "There’s an LDAP provider with this name already, in any letter case."


class DirectoryUnavailable(ApiError):
    code, status, message = 7968, 503, "The directory that checks this password is not available"
    description = "The tenant’s LDAP directory didn’t answer in time or refused this service. Try again; the trace of the request says why."


class DirectoryPasswordExpired(ApiError):
    code, status, message = 7969, 403, "The password must be changed in the directory first"
    description = "The password is right, and the directory demands a new one first. `Data.PasswordUrl` says where, if the provider has it."


class DirectoryPasswordElsewhere(ApiError):
    code, status, message = 7970, 403, "This password is managed in a directory"
    description = "The account’s password is in an LDAP directory that doesn’t let this service change it. `Data.PasswordUrl` says where."


class DirectoryPasswordRefused(ApiError):
    code, status, message = 7971, 403, "The directory refused the new password"
    description = "The directory’s own rules refuse the new password, or don’t let the person change it now."
