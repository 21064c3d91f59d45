"""Operations by which an account's owner changes it, with an access token."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.accounts import self_service as contract
from app.contract.accounts.operations import ReadOwnAccount
from app.contract.accounts.operations import read_own as read_own_account
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.contract.shared_responses import Deleted, Posted, PostedSms, SmsSent
from app.identity.authentication.sign_in import tenant_requirements
from app.identity.authentication.sign_in.pending_sign_in import Authentication
from app.identity.authentication.verification import service as verification
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts import service as accounts
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context
from app.identity.public_api.self_service import account_unlock
from app.identity.use_cases.accounts import deletion, emails, profile
from app.identity.use_cases.accounts.emails import NewEmail


@read_own_account.implements
def read_own(context: Context, req: ReadOwnAccount) -> Profile:
    """Return the account; send the welcome email, if requested, once per account and only to a verified address."""
    account = accounts.current(context)
    is_theirs = account.email_verified or context.tenant.settings.email_verification == "disabled"
    if req.welcome_email_template and is_theirs and context.raw.method != "HEAD":
        account = verification.send_welcome(context, account, req.welcome_email_template)
    return accounts.profile_for_owner(context, account, req.fields_)


@contract.update.implements
def update(context: Context, req: contract.UpdateOwnAccount) -> contract.OwnProfile:
    if not context.raw.body.strip():
        raise e.BadPutBody("The body is empty.")
    own = accounts.current(context)
    is_password = bool(req.password) and "change_password" in context.tenant.settings.captcha_at
    place = "change_password" if is_password else "update_profile"
    captcha.require_solved_at(context, place, captcha.from_parameters(req))
    account = profile.update(context, own, req)
    return contract.OwnProfile(data=accounts.profile_for_owner(context, account, req.fields_))


@contract.set_username.implements
def set_username(context: Context, req: contract.SetUsername) -> Posted:
    profile.set_username(context, accounts.current(context), req.username, suppress_webhook=req.suppress_webhook)
    return Posted()


@contract.add_email.implements
def add_email(context: Context, req: contract.AddEmail) -> Posted:
    new = NewEmail(req.email or "", req.type or "", req.verification_url, req.email_template)
    emails.ask(context, accounts.current(context), new, hides_taken=context.tenant.settings.hide_unknown_accounts)
    return Posted()


@contract.remove_email.implements
def remove_email(context: Context, req: contract.RemoveEmail) -> Deleted:
    emails.remove(context, accounts.current(context), req.email, suppress_webhook=req.suppress_webhook)
    return Deleted()


@contract.unlock.implements
def unlock(context: Context, req: contract.Unlock) -> Posted:
    account_unlock.unlock(context, accounts.current(context), req)
    return Posted()


@contract.send_welcome.implements
def send_welcome(context: Context, req: contract.SendWelcomeEmail) -> Posted:
    account = accounts.current(context)
    if not account.email:
        raise e.NoEmailOnProfile
    verification.send_welcome(context, account, req.welcome_email_template, is_asked_for=True)
    return Posted()


@contract.accept_policy.implements
def accept_policy(context: Context, req: contract.AcceptPolicy) -> Profile:
    """Accept the policy; the token of a refused sign-in then becomes a session, unless another requirement is unmet."""
    account = privacy_policy.accept(context, accounts.current(context))
    authentication = context.token_holder.claims.unfinished_sign_in
    if authentication is not None and not tenant_requirements.are_met(context, account, tenant_requirements.POLICY):
        tokens.revoke_both(context, context.token_holder.token_hash)
        tenant_requirements.refuse_unmet(
            context, account, Authentication.from_stored(authentication), tenant_requirements.POLICY
        )
    return accounts.profile_for_owner(context, account, req.fields_)


@contract.policy_history.implements
def policy_history(context: Context, req: AccessTokenQuery) -> contract.PolicyHistory:
    return privacy_policy.history(context, accounts.current(context))


@contract.managed_policy_history.implements
def managed_policy_history(context: Context, req: Uid) -> contract.PolicyHistory:
    return privacy_policy.history(context, accounts.require(context, req.uid))


@contract.ask_deletion.implements
def ask_deletion(context: Context, req: contract.RequestDeletion) -> contract.DeletionRequested:
    deletion.ask(context, accounts.current(context), req.delete_url, req.email_template)
    return contract.DeletionRequested()


@contract.confirm_deletion.implements
def confirm_deletion(context: Context, req: contract.ConfirmDeletion) -> Posted:
    """A HEAD request, as email scanners send it, does not spend the link."""
    if context.raw.method == "HEAD":
        deletion.peek(context, req.delete_token)
    else:
        deletion.confirm(context, req.delete_token)
    return Posted()


@contract.send_deletion_code.implements
def send_deletion_code(context: Context, req: contract.SendDeletionCode) -> PostedSms:
    sid = deletion.send_code(context, accounts.current(context), req)
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid))


@contract.delete_by_code.implements
def delete_by_code(context: Context, req: contract.DeleteByCode) -> Deleted:
    account = accounts.current(context)
    is_open = account_unlock.open_lock(context, account, req, req)
    deletion.confirm_code(context, account, req.otp, is_lock_solved=is_open, suppress_webhook=req.suppress_webhook)
    return Deleted()
