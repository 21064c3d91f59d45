"""Operations by which an account's owner changes it, with an access token."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import picture_operations, self_service_operations
from app.contract.accounts.account_operations import ReadOwnAccount
from app.contract.accounts.account_operations import read_own as read_own_account
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.contract.shared_responses import Deleted, Posted, PostedSms, SmsSent
from app.identity.authentication.sign_in import completion, required_actions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import ActionRequired, Refused
from app.identity.authentication.verification import email_verification
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import accounts, privacy_policy
from app.identity.messaging import messaging
from app.identity.platform.context import Context
from app.identity.public_api.self_service import account_unlock
from app.identity.public_api.sign_in import sign_in_responses
from app.identity.use_cases.accounts import change_emails, change_profile, deletion, own_picture
from app.identity.use_cases.accounts.change_emails import NewEmail


@read_own_account.implements
def read_own(context: Context, req: ReadOwnAccount) -> Profile:
    """Return the account; send the welcome email, if requested, once per account and only to a verified address."""
    account = accounts.current(context)
    is_theirs = account.email_verified or context.tenant.settings.email_verification == "disabled"
    if req.welcome_email_template and is_theirs and context.raw.method != "HEAD":
        account = email_verification.send_welcome(context, account, req.welcome_email_template)
    return accounts.profile_for_owner(context, account, req.fields_)


@self_service_operations.update.implements
def update(context: Context, req: self_service_operations.UpdateOwnAccount) -> self_service_operations.OwnProfile:
    if not context.raw.body.strip():
        raise errors.BadPutBody("The body is empty.")
    own = accounts.current(context)
    is_password = bool(req.password) and "change_password" in context.tenant.settings.captcha_at
    place = "change_password" if is_password else "update_profile"
    captcha_verification.require_solved_at(context, place, answers.from_parameters(req))
    account = change_profile.update(context, own, req)
    return self_service_operations.OwnProfile(data=accounts.profile_for_owner(context, account, req.fields_))


@picture_operations.set_picture.implements
def set_picture(context: Context, req: picture_operations.OwnPicture) -> picture_operations.PictureSet:
    return picture_operations.PictureSet(image_url=own_picture.change(context, accounts.current(context), req.picture))


@picture_operations.remove_picture.implements
def remove_picture(context: Context, req: picture_operations.RemovePicture) -> Deleted:
    own_picture.remove(context, accounts.current(context))
    return Deleted()


@self_service_operations.set_username.implements
def set_username(context: Context, req: self_service_operations.SetUsername) -> Posted:
    change_profile.set_username(context, accounts.current(context), req.username)
    return Posted()


@self_service_operations.add_email.implements
def add_email(context: Context, req: self_service_operations.AddEmail) -> Posted:
    new = NewEmail(req.email or "", req.type or "", req.verification_url, req.email_template)
    change_emails.request_addition(
        context, accounts.current(context), new, hides_taken=context.tenant.settings.hide_unknown_accounts
    )
    return Posted()


@self_service_operations.remove_email.implements
def remove_email(context: Context, req: self_service_operations.RemoveEmail) -> Deleted:
    change_emails.remove(context, accounts.current(context), req.email)
    return Deleted()


@self_service_operations.unlock.implements
def unlock(context: Context, req: self_service_operations.Unlock) -> Posted:
    account_unlock.unlock(context, accounts.current(context), req)
    return Posted()


@self_service_operations.send_welcome.implements
def send_welcome(context: Context, req: self_service_operations.SendWelcomeEmail) -> Posted:
    account = accounts.current(context)
    if not account.email:
        raise errors.NoEmailOnProfile
    email_verification.send_welcome(context, account, req.welcome_email_template, is_requested=True)
    return Posted()


@self_service_operations.accept_policy.implements
def accept_policy(context: Context, req: self_service_operations.AcceptPolicy) -> Profile:
    """Accept the policy; the token of a refused sign-in then becomes a session, unless another requirement is unmet."""
    account, unfinished = accounts.current(context), context.token_holder.claims.unfinished_sign_in
    if unfinished is None:
        return accounts.profile_for_owner(context, privacy_policy.accept(context, account), req.fields_)
    outcome = completion.after_earlier_request(
        context,
        account,
        Authentication.from_stored(unfinished),
        required_actions.POLICY,
        lambda: privacy_policy.accept(context, account),
        has_session=True,
    )
    match outcome:
        case ActionRequired():
            tokens.revoke_both(context, context.token_holder.token_hash)
            raise outcome.refusal(context)
        case Refused():
            with context.work.separate_transaction() as transaction:
                tokens.revoke_both(context.within(transaction), context.token_holder.token_hash)
            raise sign_in_responses.error_of(context, outcome)
    return accounts.profile_for_owner(context, accounts.current(context), req.fields_)


@self_service_operations.policy_history.implements
def policy_history(context: Context, req: AccessTokenQuery) -> self_service_operations.PolicyHistory:
    return privacy_policy.history(context, accounts.current(context))


@self_service_operations.managed_policy_history.implements
def managed_policy_history(context: Context, req: Uid) -> self_service_operations.PolicyHistory:
    return privacy_policy.history(context, accounts.require(context, req.uid))


@self_service_operations.request_deletion.implements
def request_deletion(
    context: Context, req: self_service_operations.RequestDeletion
) -> self_service_operations.DeletionRequested:
    deletion.request_deletion(context, accounts.current(context), req.delete_url, req.email_template)
    return self_service_operations.DeletionRequested()


@self_service_operations.confirm_deletion.implements
def confirm_deletion(context: Context, req: self_service_operations.ConfirmDeletion) -> Posted:
    """A HEAD request, as email scanners send it, does not spend the link."""
    if context.raw.method == "HEAD":
        deletion.peek(context, req.delete_token)
    else:
        deletion.confirm(context, req.delete_token)
    return Posted()


@self_service_operations.send_deletion_code.implements
def send_deletion_code(context: Context, req: self_service_operations.SendDeletionCode) -> PostedSms:
    sid = deletion.send_code(context, accounts.current(context), req)
    return PostedSms(data=SmsSent(account_sid=messaging.account_sid(context), sid=sid))


@self_service_operations.delete_by_code.implements
def delete_by_code(context: Context, req: self_service_operations.DeleteByCode) -> Deleted:
    account = accounts.current(context)
    is_open = account_unlock.open_lock(context, account, req, req)
    deletion.confirm_code(context, account, req.otp, is_lock_solved=is_open)
    return Deleted()
