"""Open invitations to an organization, by email and shared, as those who manage it see them."""

from pydantic import Field

from app.kit.operations.wire import Wire


class PendingInvitation(Wire):
    """An open invitation by email."""

    id: str
    email: str
    roles: list[str] = Field(default_factory=list)  # names
    expires_at: str
    resend_in_seconds: int = 0  # wait before another email
    can_change: bool = True  # only owners may resend or revoke an invitation with an owner role


class ActiveSharedInvitation(Wire):
    """A shared invitation that can still be used. Its token is not stored."""

    id: str
    roles: list[str] = Field(default_factory=list)  # names
    expires_at: str
    domains: list[str] = Field(default_factory=list)
    uses: int
    max_uses: int | None = None
    can_change: bool = True
