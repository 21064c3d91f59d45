"""A member of an organization, as those who manage it see it."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract.organizations.pages import member_pages
from app.hub.pages.organizations.presentation import listed
from app.hub.rendering import formatting
from app.hub.tenants.branding import initials


@dataclass(frozen=True)
class MemberRow:
    """A member in the list. `key`: organization and account, as addresses and forms name them."""

    key: str
    name: str
    label: str
    """Email, username or phone."""
    roles: str
    since: str
    is_self: bool = False
    is_owner: bool = False
    can_change: bool = True
    is_last_owner: bool = False

    @property
    def title(self) -> str:
        """The name, or the label of an account without one."""
        return self.name or self.label

    @property
    def initials(self) -> str:
        return initials(self.title)

    @classmethod
    def of(cls, organization: str, view: member_pages.MemberView) -> MemberRow:
        return cls(
            f"{organization}-{view.uid}",
            view.name,
            view.label,
            listed(view.roles),
            formatting.short_day(view.since),
            view.is_self,
            view.is_owner,
            view.can_change,
            view.is_last_owner,
        )

    @classmethod
    def samples_of_list(cls) -> tuple[MemberRow, ...]:
        """Return an owner, the account itself, and a member."""
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        return (
            cls(
                "org_9-a",
                "Grace Hopper",
                "grace@example.com",
                "Owner",
                day,
                is_owner=True,
                can_change=False,
                is_last_owner=True,
            ),
            cls("org_9-b", "Ada Lovelace", "ada@example.com", "Manager", day, is_self=True),
            cls("org_9-c", "", "countess.of.lovelace@analytical-engines.example.org", "Editor, Buyer", day),
        )
