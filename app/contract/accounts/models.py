"""The account as pages show it."""

from app.kit.operations.wire import Wire


class PersonView(Wire):
    """The signed-in account, as pages show it."""

    uid: str
    label: str  # email, username or phone
    name: str | None = None
    language: str | None = None  # the profile's LocalLanguage, unchanged
    has_organizations: bool = False  # the account joined one at some time
