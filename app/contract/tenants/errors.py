"""Errors of tenants and of their restrictions, themes and domains."""

from app.kit.operations.errors import ApiError


class UnknownTenant(ApiError):
    """The host names no tenant."""

    code, status, message = 942, 403, "Site does not exist"
    description = "No tenant is served at this host. Check the host and the path."


class RestrictionNotSet(ApiError):
    code, status, message = 8111, 404, "Restriction configuration not found"
    description = "The tenant has no such restrictions. Set them first."


class EntryInBothLists(ApiError):
    code, status, message = 8190, 400, "Same entry in both lists"
    description = "An entry is in both lists, the allowed and the denied. Remove it from one."


class UnknownTheme(ApiError):
    code, status, message = 8191, 404, "Theme not found"
    description = "There’s no theme with this ID."


class ThemeChanged(ApiError):
    code, status, message = 8202, 409, "Theme was changed in the meantime"
    description = "The theme has another version than the request was made to. Read it again, and repeat your change on that version."


class UnknownThemeVersion(ApiError):
    code, status, message = 8203, 404, "Version of the theme not found"
    description = "The theme has no version with this number, or no longer."


class NoEarlierVersion(ApiError):
    code, status, message = 8204, 409, "There is no earlier version"
    description = "No version before the published one was ever published, or none is kept."


class UnknownThemeFile(ApiError):
    code, status, message = 8227, 404, "Theme file not found"
    description = "The theme has no file with this name."


class ThemeFileRefused(ApiError):
    code, status, message = 8228, 400, "The theme file is refused"
    description = "The file is too large, or its content isn’t what its name says."


class ThemeFileInUse(ApiError):
    code, status, message = 8229, 409, "The theme file is in use"
    description = "The theme’s logo, style sheet or templates name the file. Change them first."


class UnknownDomain(ApiError):
    code, status, message = 8192, 404, "Custom domain not found"
    description = "The tenant has no custom domain with this name."
