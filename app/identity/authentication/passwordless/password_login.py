"""Signs in by password for programs: this service or a directory checks it, and the identifier alone decides which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract import errors
from app.identity.authentication.federation import federated_sign_in
from app.identity.authentication.passwordless import federated_account, redemption
from app.identity.authentication.passwordless.federated_account import EmailUse
from app.identity.authentication.registration import account_registration, requirements
from app.identity.authentication.sign_in import completion, password_sign_in, sign_in_identifiers
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import FactorRequired, Recorded, Refused
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import account_locks
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context

if TYPE_CHECKING:
    from app.identity.credentials.ldap.ldap_directories import DirectoryLogin


def sign_in(
    context: Context,
    identifier: TypedIdentifier,
    password: str,
    solution: LockSolution,
    *,
    hides_unknown: bool,
    options: VerificationOptions | None = None,
) -> Recorded | FactorRequired:
    """Verify the password where the identifier belongs, and record the sign-in unless a second factor is required.

    Raises what `password_sign_in.sign_in_with_password` and `directory_passwords.verify` raise, and AccountLinkingOff, NotLinkable,
    RegistrationOff, PolicyNotAccepted and IdentityTaken where the person of a directory gets no account.
    """
    login = ldap_directories.for_identifier(context, identifier)
    if login is None:
        return password_sign_in.sign_in_with_password(
            context, identifier, password, solution, hides_unknown=hides_unknown, options=options
        )
    from app.identity.authentication.sign_in import directory_passwords  # noqa: PLC0415 - loads the LDAP client

    password_sign_in.count_attempt(context)
    sign_in_identifiers.refuse_disabled_kind(context.tenant.settings, identifier.kind)
    identity = directory_passwords.verify(context, login, identifier, password, solution)
    return _with_account(context, login, identity, identifier)


def _with_account(
    context: Context, login: DirectoryLogin, identity: ProviderIdentity, identifier: TypedIdentifier
) -> Recorded | FactorRequired:
    """Sign in to the account of the identity. After a conflict with a concurrent request, it is tried once more."""
    authentication = Authentication((password_sign_in.PASSWORD,), identifier.kind, provider=login.directory.name)
    position = context.audit.position()
    try:
        return _sign_in(context, login, identity, authentication)
    except federated_account.CONFLICTS:
        context.work.rollback()
        context.audit.drop_since(position)
    try:
        return _sign_in(context, login, identity, authentication)
    except (IdentifierTaken, linked_identities.NotLinked):
        raise errors.IdentityTaken from None


def _sign_in(
    context: Context, login: DirectoryLogin, identity: ProviderIdentity, authentication: Authentication
) -> Recorded | FactorRequired:
    from app.identity.authentication.federation import directory_roles  # noqa: PLC0415 - few tenants have any

    account = _account(context, login, identity)
    outcome = completion.after_first_factor(context, account, authentication)
    if isinstance(outcome, Refused):
        if outcome.error is None:
            account_locks.refuse_locked(context, account)
        raise outcome.error or errors.AccountBlocked
    if isinstance(outcome, FactorRequired):  # an account with a second factor gets an identity only after that
        if linked_identities.is_known(account, identity):
            directory_roles.apply(context, account, identity)
        return outcome
    linked = federated_sign_in.link(context, account, identity)
    directory_roles.apply(context, linked, identity)
    return outcome


def _account(context: Context, login: DirectoryLogin, identity: ProviderIdentity) -> Account:
    """Return the account that has the identity, the one with its verified address, or a new one with the identity."""
    holder = linked_identities.find_account(context, identity.provider, identity.subject)
    if holder is not None:
        return linked_identities.record_use(context, holder, identity)
    may_register = context.tenant.settings.registration
    trusts_email = login.directory.provider.trusts_email  # the identity says of which domains
    use = federated_account.email_use(context, identity, trusts_email=trusts_email, may_register=may_register)
    if use is EmailUse.SIGN_IN:
        return federated_account.by_email(context, identity, links_identity=True)
    if use is not EmailUse.UNPROVEN:
        raise federated_account.REFUSALS[use]
    account_registration.require_enabled(context)
    requirements.refuse_without_identifiers(context.tenant.settings)
    return redemption.register(context, identity=identity, links_identity=True)
