"""Rules of reauthentication: every sensitive change requires that its caller authenticated recently (decisions 0141 and 0371)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import bindparam, select

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.visitor_claims import SESSION_HEADER
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.authentication.sign_in.sessions import session_renewal, sessions
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED, BrowserSession
from app.identity.authentication.sign_in.tables import sessions as session_table
from app.identity.credentials import account_locks, current_password
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform.context import Context, TokenHolder, Visitor
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import filter_members

MAX_AGE_FOR_TOKENS: Final = timedelta(minutes=10)
MAX_AGE_FOR_VISITS: Final = timedelta(minutes=5)
S = session_table.c
_AUTHENTICATION_TIMES = select(S.authenticated_at, S.created_at, S.methods).where(
    S.tenant_id == bindparam("tenant"),
    S.session_id == bindparam("session"),
    S.uid == bindparam("account"),
    S.expires_at > bindparam("now"),
)


def require_for_token(context: Context, operation: AnyOperation, holder: TokenHolder, body: Iterable[str]) -> None:
    """Raise `reauthentication_required` for a sensitive request if the last authentication is older than ten minutes.

    Applies to tokens of applications, and with `fresh_proof_for_credentials` also to tokens of the interface's sign-ins.
    An impersonation token always raises `access_refused`, because the account holder did not authenticate.
    """
    access, profile = operation.admission.access, operation.error_profile
    if access is None or not access.needs_reauthentication(body):
        return
    if holder.actor is not None:
        raise (profile.access_refused or errors.NotAuthenticated)("An impersonation token cannot change credentials.")
    if holder.client_id is None and not context.tenant.settings.fresh_proof_for_credentials:
        return
    authenticated_at = _authenticated_at(context, holder)
    if authenticated_at is None or context.now - authenticated_at > MAX_AGE_FOR_TOKENS:
        raise profile.reauthentication_required or errors.NotAuthenticated


def require_for_visit(context: Context, session: BrowserSession, account: Account) -> None:
    """Verify the password of the visit if the last authentication is older than five minutes; a wrong one counts.

    The session is marked as reauthenticated once the operation is done. Call it before any write.

    Raises:
        WrongCurrentPassword, and the refusals of a locked account.
        NotAuthenticated: the password does not suffice; the page then leads to a full reauthentication.
    """
    required = required_reauthentication(context, session, account)
    if required is RequiredReauthentication.NONE:
        return
    if required is RequiredReauthentication.STRONGER:
        raise errors.NotAuthenticated
    password = _password_of_visit(context)
    if not password:
        account_locks.refuse_locked(context, account)
        raise errors.WrongCurrentPassword("The password is asked again.")
    current_password.verify(context, account, password, errors.WrongCurrentPassword)
    with context.work.separate_transaction() as work:
        login_records.reset_failures(work, account.uid)
    context.visitor = Visitor(account.uid, partial(_renew_session, context, session))


def required_reauthentication(context: Context, session: BrowserSession, account: Account) -> RequiredReauthentication:
    """Return the reauthentication that a sensitive change of this visit requires (decision 0094)."""
    if is_recent(context, session):
        return RequiredReauthentication.NONE
    channel = pending_sign_in.channel_for(session.methods)
    if not ldap_directories.has_password(context, account) or second_factors.kinds_of_account(
        context, account, channel
    ):
        return RequiredReauthentication.STRONGER
    return RequiredReauthentication.PASSWORD


def is_recent(context: Context, session: BrowserSession) -> bool:
    """Return whether the person of a session authenticated in the last five minutes."""
    return context.now - session.authenticated_at <= MAX_AGE_FOR_VISITS


def _password_of_visit(context: Context) -> str | None:
    """Return the password that the person typed; raises the operation's refusal of dangerous content."""
    password = context.visit.password if context.visit is not None else None
    if context.operation is not None:
        filter_members(context.operation, {"password": password})
    return password


def _renew_session(context: Context, session: BrowserSession) -> Mapping[str, str]:
    """Mark the session as reauthenticated, and return its new cookie for the hub. Raises NotAuthenticated if it ended meanwhile."""
    renewed = sessions.cookie(context, session, session_renewal.mark_reauthenticated(context, session))
    return {SESSION_HEADER: renewed.to_json().decode()}


def _authenticated_at(context: Context, holder: TokenHolder) -> datetime | None:
    """Return when the account behind a token last authenticated; None where it is unknown (impersonation).

    This is the latest of the sign-in that the token was issued for, a step-up with a token of its family, and a
    sign-in or step-up of its browser session. A provider may sign a browser in silently, and an application can send
    browsers there by itself; so a federated sign-in counts only where it renewed a session, which requires a new
    authentication at the provider.
    """
    claims = holder.claims
    signed_in_at = None if claims.amr == (FEDERATED,) else claims.auth_time
    times = [datetime.fromtimestamp(at, UTC) for at in (signed_in_at, claims.stepped_up_at) if at is not None]
    session_id = holder.session_id or claims.sid
    if session_id is not None:
        parameters = {
            "tenant": context.tenant.tenant_id,
            "session": session_id,
            "account": holder.uid,
            "now": context.now,
        }
        times += [
            row.authenticated_at
            for row in context.work.run(_AUTHENTICATION_TIMES, parameters)
            if row.authenticated_at > row.created_at or row.methods != [FEDERATED]
        ]
    return max(times, default=None)
