"""Ends everything that an account is signed in with."""

from __future__ import annotations

from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose


def end_sessions_and_tokens(
    context: Context,
    account: Account,
    *,
    except_session: str | None = None,
    except_token: str | None = None,
    reason: str = "password",
) -> None:
    """End the account's sessions and tokens, and every sign-in that has begun, after a new password or a block.

    Args:
        context: the request's context.
        account: the account.
        except_session: the session of the caller that changed the password; it stays.
        except_token: the hash of that caller's token; its family stays.
        reason: `reason` of the audit row.
    """
    sessions.end_all(
        context,
        account.uid,
        except_session,
        reason="account_delete" if reason == "closed" else "password_change",
    )
    tokens.revoke_all(context, account.uid, except_session, except_token)
    purposes = (
        ContinuationPurpose.SECOND_FACTOR,
        ContinuationPurpose.CONSENT,
        ContinuationPurpose.PIN_SETTING,
        ContinuationPurpose.SMART_LOGIN,
    )
    continuation_tokens.revoke_all(context, account.uid, *purposes, ContinuationPurpose.TRUSTED_BROWSER)
    context.audit.record("sessions.ended", uid=account.uid, reason=reason)


def end_after_email_verification(context: Context, account: Account) -> None:
    """End every session of the account, if the tenant requires that after the verification of an address."""
    if context.tenant.settings.logout_on_email_verification:
        sessions.end_all(context, account.uid)
        tokens.revoke_all(context, account.uid)
        context.audit.record("sessions.ended", uid=account.uid, reason="email verified")
