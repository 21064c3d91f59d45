"""Verifies a password that a directory checks: each attempt counts here before the directory sees it.

So a directory that locks accounts by itself locks none because of attempts here, if its limit is higher than the tenant's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from app.contract import errors
from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.authentication.sign_in import locks, risks
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.credentials.ldap import ldap_people, ldap_reports
from app.identity.credentials.ldap.ldap_directories import DirectoryLogin
from app.identity.credentials.ldap.ldap_people import LdapPerson
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.login_attempts import account_lookup, login_records, unknown_identifiers
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.login_attempts.login_records import LOCK_KINDS, AccountLock, Attempt, Failure
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable, PasswordProblem, PasswordRefused
from app.kit.operations.errors import ApiError


def verify(
    context: Context,
    login: DirectoryLogin,
    identifier: TypedIdentifier,
    password: str,
    solution: LockSolution,
    *,
    shows_lock: bool = False,
) -> ProviderIdentity:
    """Return the identity of the person whose password this is; its groups are those that give roles.

    An unknown login and a wrong password get the same error, after the same requests to the directory.

    Args:
        solution, shows_lock: as for `password_sign_in.sign_in_with_password`.

    Raises:
        WrongCredentials: also for an empty password, which no directory sees.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: too many failures; and those of `locks.solve`.
        LoginDisabled, DirectoryPasswordExpired: the directory confirmed the password, but the person may not sign in.
        NewDevice and the other refusals of `risks.refuse_new_origin`: the password is right.
        DirectoryUnavailable: the directory does not answer as it should; the trace of the request says why.
    """
    attempt = _DirectoryAttempt(context, login, identifier, solution)
    try:
        person = ldap_people.check_password(context, login, password, attempt.count)
    except PasswordRefused as refusal:
        _report(context, login, refusal)
        raise attempt.refusal(refusal, shows_lock=shows_lock) from None
    except LdapUnavailable as problem:
        attempt.take_back()
        ldap_reports.report(context, login.directory, problem, (password,))
        raise errors.DirectoryUnavailable from None
    attempt.open_lock()
    holder = linked_identities.find_account(context, person.identity.provider, person.identity.subject)
    if holder is not None:
        risks.refuse_new_origin(context, holder)
    context.give_back_attempts(f"{person.identity.provider} {person.identity.subject}")
    groups = ldap_people.groups_with_roles(login.directory.provider, person.identity.groups or ())
    return replace(person.identity, groups=groups, is_anew=True)


def _report(context: Context, login: DirectoryLogin, refusal: PasswordRefused) -> None:
    """Trace what an administrator can mend: not each wrong password."""
    if refusal.problem is PasswordProblem.WRONG and not refusal.is_notable:
        return
    problem = LdapUnavailable(
        check=ConnectionCheck.LDAP_PASSWORD,
        expected="a bind as the person that succeeds",
        received=f"{refusal.problem.value}: {refusal.detail}",
    )
    ldap_reports.report(context, login.directory, problem)


_NONE: Final = Failure(0, False)


@dataclass
class _DirectoryAttempt:
    """One attempt: counted on the account of the person, or of the typed identifier, or under the person's or the typed name."""

    context: Context
    login: DirectoryLogin
    identifier: TypedIdentifier
    solution: LockSolution
    lookup: AccountLookup | None = None
    solved: AccountLock | None = None
    counted: Attempt | None = None
    failure: Failure = _NONE

    def count(self, person: LdapPerson | None) -> None:
        """Open a lock by the solution, and count the attempt. Raises as `verify` does."""
        context = self.context
        self.lookup = lookup = self._lookup(person)
        lock = self._lock(lookup)
        context.work.release_connection()
        if lock is not None:
            if not locks.solve(context, lookup, lock, self.solution):
                account_lookup.count_failure(context, lookup)
                raise locks.with_lock_challenge(context, lookup, lock, errors.WrongQuestionOrAnswer())
            self.solved = lock
        if lookup.account is None:
            self.failure = unknown_identifiers.count(context, lookup.name_hashes)
            if self._is_over(self.failure) and lock is None:
                raise self._lock_error(lookup)
        elif lock is None:
            with context.work.separate_transaction() as transaction:
                self.counted = login_records.count_attempt(context.within(transaction), lookup.account)
            if self.counted is None:
                raise self._lock_error(lookup)
            self.failure = self.counted.failure

    def take_back(self) -> None:
        """Take the attempt back, because its password was right, or the directory did not say."""
        lookup = self.lookup
        if lookup is None:
            return
        with self.context.work.separate_transaction() as transaction:
            if self.counted is not None:
                self.counted.take_back(transaction)
            elif lookup.account is None:
                unknown_identifiers.take_back(self.context.within(transaction), lookup.name_hashes)

    def open_lock(self) -> None:
        """Take the attempt back after a right password, and end the lock that its solution opened."""
        self.take_back()
        lookup = self.lookup
        if self.solved is not None and lookup is not None and lookup.account is not None:
            with self.context.work.separate_transaction() as transaction:
                login_records.reset_failures(transaction, lookup.account.uid, is_lock_solved=True)

    def refusal(self, refusal: PasswordRefused, *, shows_lock: bool) -> ApiError:
        """Return the error of a refused password. Only one that the directory confirmed says more than that it is wrong."""
        context, lookup = self.context, self.lookup
        if refusal.problem is not PasswordProblem.WRONG:
            self.take_back()
            context.audit.record("sign_in.refused", reason="directory", problem=refusal.problem.value)
            return ldap_reports.error_of(self.login.directory, refusal.problem)
        uid = {"uid": lookup.account.uid} if lookup is not None and lookup.account is not None else {}
        context.audit.record("sign_in.refused", **uid, reason="password", attempts=self.failure.attempts)
        if lookup is None:
            return errors.WrongCredentials()
        if lookup.account is not None:
            with context.work.separate_transaction() as transaction:
                if self.counted is None:
                    self.failure = login_records.count_failure(context.within(transaction), lookup.account)
                elif self.failure.is_locked:
                    login_records.lock_if_exhausted(context.within(transaction), lookup.account)
        if not shows_lock or not self.failure.is_locked:
            return errors.WrongCredentials()
        lock = self.solved or AccountLock(LOCK_KINDS[context.tenant.settings.lockout.type])
        return locks.with_lock_challenge(context, lookup, lock, errors.WrongCredentials())

    def _lookup(self, person: LdapPerson | None) -> AccountLookup:
        """Return whose attempt this is: one person has one count, whatever the person typed."""
        context, typed = self.context, account_lookup.find(self.context, self.identifier, is_hidden=True)
        if person is None:
            return typed
        identity = person.identity
        account = linked_identities.find_account(context, identity.provider, identity.subject) or typed.account
        if account is not None:
            return AccountLookup(context, self.identifier, account, is_hidden=False)
        hashes = account_lookup.hashes_of(context, f"{identity.provider} {identity.subject}")
        return AccountLookup(context, self.identifier, None, is_hidden=True, known_hashes=hashes)

    def _lock(self, lookup: AccountLookup) -> AccountLock | None:
        if lookup.account is not None:
            return login_records.lock_of(lookup.account)
        return unknown_identifiers.lock_of(self.context, lookup.name_hashes)

    def _is_over(self, failure: Failure) -> bool:
        return failure.is_locked and failure.attempts > self.context.tenant.settings.lockout.maximum_failed_attempts

    def _lock_error(self, lookup: AccountLookup) -> ApiError:
        """Return the error of the lock that attempts before this one caused."""
        account = account_store.by_uid(self.context, lookup.account.uid) if lookup.account is not None else None
        lock = self._lock(replace(lookup, holder=account) if account is not None else lookup)
        self.context.work.release_connection()
        return locks.lock_refusal(self.context, lookup, lock) if lock is not None else errors.WrongCredentials()
