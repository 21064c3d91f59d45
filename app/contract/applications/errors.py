"""Errors of the management of OAuth clients and initial access tokens."""

from app.kit.operations.errors import ApiError


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
