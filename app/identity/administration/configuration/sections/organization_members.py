"""The accounts that members of a configuration file's organizations name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from app.contract.organizations.file import OrganizationMemberFile
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.sections.accounts import KINDS, Identifier, stored_accounts
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified


@dataclass
class MemberAccounts:
    """The accounts of one tenant that its organizations in the file name, looked up once. `section`: its organizations'."""

    section: ItemSection

    def find(
        self, member: OrganizationMemberFile, path: KeyPath, stored: Mapping[Identifier, Account] | None = None
    ) -> Account | None:
        """Return the account; None if the file adds it. Raises ConfigurationError if there is none, or it is not proven.

        Args:
            stored: the stored accounts; by default those before the run writes.
        """
        text, problem_path = member.account, (*path, "account")
        for kind, normalized in _identifiers(member):
            account = (self._before if stored is None else stored).get((kind, normalized))
            if account is not None:
                if not self._is_proven(account, kind, normalized):
                    self.section.refuse(problem_path, f"expected a verified email or phone of an account; found {text}")
                return account
        if text not in self._labels:
            self.section.refuse(problem_path, f"expected the email, username or phone of an account; found {text}")
        return None

    def as_stored_now(self, members: Iterable[OrganizationMemberFile]) -> dict[Identifier, Account]:
        """Return the accounts by what the members may name, with those that this run has added."""
        return stored_accounts(
            self.section.context, (normalized for member in members for normalized in _identifiers(member))
        )

    def uids_of(self, members: Iterable[OrganizationMemberFile]) -> set[str]:
        """Return the ids of the accounts that were stored before the run."""
        found = (self._before.get(normalized) for member in members for normalized in _identifiers(member))
        return {account.uid for account in found if account is not None}

    @cached_property
    def _before(self) -> Mapping[Identifier, Account]:
        organizations = self.section.declared.organizations or ()
        return self.as_stored_now(member for organization in organizations for member in organization.members)

    @cached_property
    def _labels(self) -> Set[str]:
        """The names of the file's accounts."""
        return {account.label for account in self.section.declared.accounts or ()}

    def _is_proven(self, account: Account, kind: str, normalized: str) -> bool:
        """Return whether the identifier is surely its owner's: anyone can register with another person's address."""
        if kind == identifiers.USERNAME or account.private.get(account_store.FROM_FILE):
            return True
        is_email = kind == identifiers.EMAIL
        if is_verified(account, normalized) if is_email else account.phone_verified:
            return True
        return (kind, normalized) in self._verified_by_file

    @cached_property
    def _verified_by_file(self) -> Set[Identifier]:
        """The identifiers of the file's accounts that it declares to be verified."""
        return {
            (kind, identifiers.normalize(kind, value))
            for account in self.section.declared.accounts or ()
            for kind in (identifiers.EMAIL, identifiers.PHONE)
            if (value := getattr(account, kind)) and getattr(account, f"{kind}_verified")
        }


def _identifiers(member: OrganizationMemberFile) -> list[Identifier]:
    """Return what a member may name: an email, a username or a phone number."""
    return [(kind, identifiers.normalize(kind, member.account)) for kind in KINDS]
