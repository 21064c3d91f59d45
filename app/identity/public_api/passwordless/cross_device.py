"""The operations of cross-device sign-on by programs."""

from __future__ import annotations

from datetime import timedelta

from app.contract import errors
from app.contract.passwordless import cross_device_operations
from app.identity.authentication.passwordless import cross_device
from app.identity.authentication.passwordless.cross_device import APPROVED, Approver
from app.identity.authentication.sign_in import completion, risks
from app.identity.credentials.tokens import token_store, tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts import account_store
from app.identity.directory.organizations import active_policies
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.continuation_tokens import ContinuationToken
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness
from app.kit.operations.errors import ApiError

_WRONG_CODE = "code: a code that a device shows now."


@cross_device_operations.generate.implements
def generate(context: Context, req: cross_device_operations.GenerateCode) -> cross_device_operations.GeneratedCode:
    cross_device.require_enabled(context)
    context.count_request("cross_device_generate", context.tenant.settings.limits.qr_codes_per_minute_per_address)
    lifetime = timedelta(seconds=req.expiry or cross_device_operations.DEFAULT_SECONDS)
    device = cross_device.begin(context, lifetime, has_number=not context.has_api_secret, by_program=True)
    return cross_device_operations.GeneratedCode(code=device.text, number=device.facts["number"])


@cross_device_operations.approve.implements
def approve(context: Context, req: cross_device_operations.ApproveCode) -> cross_device_operations.Approved:
    cross_device.require_enabled(context)
    if not req.access_token:
        raise errors.BadParameter.names("access_token")
    if not req.code:
        raise errors.BadParameter.names("code")
    context.count_request("cross_device_approve", context.tenant.settings.limits.qr_answers_per_minute_per_address)
    holder = _holder(context, req.access_token)
    device = cross_device.find(context, req.code)
    if device is None or not device.facts.get("by_program"):  # our own page's codes are approved on our page
        raise errors.BadParameter(_WRONG_CODE)
    if device.facts["number"] is not None and not req.number:
        raise errors.BadParameter.names("number")
    approver = Approver(
        holder.uid,
        holder.claims.amr or (),
        holder.claims.auth_time or 0,
        int(tokens.absolute_end(context, holder.claims, holder.issued_at).timestamp()),
        token_hash=holder.token_hash,
        session_id=holder.session_id or "",
    )
    try:
        is_first = cross_device.approve(context, device, approver, req.number)
    except cross_device.NumberWrong:
        raise errors.WrongMailCode from None
    if not is_first:
        raise errors.BadParameter(_WRONG_CODE)
    return cross_device_operations.Approved()


@cross_device_operations.poll.implements
def poll(context: Context, req: cross_device_operations.PollCode) -> cross_device_operations.DeviceToken:
    cross_device.require_enabled(context)
    if not req.code:
        raise errors.BadParameter.names("code")
    context.count_request("cross_device_poll", context.tenant.settings.limits.qr_polls_per_minute_per_address)
    device = cross_device.find(context, req.code)
    if device is None or not device.facts.get("by_program"):
        raise errors.BadParameter(_WRONG_CODE)
    if device.state != APPROVED:
        raise errors.SmartLinkWaits
    uid = str(device.facts["uid"])
    _refuse_new_origin(context, device, uid)  # before anything is written
    account_store.lock_unread(context, uid)  # the account first, as every request does, then the code
    approval = cross_device.redeem(context, device)
    if approval is None or completion.without_asking(context, approval.account, approval.authentication) is None:
        raise errors.BadParameter(_WRONG_CODE)
    claims = TokenClaims(
        provider="Email", agent=device.facts["agent"], address=device.facts["address"], amr=approval.methods,
        auth_time=approval.authenticated_at, ends_at=approval.ends_at,
    )  # fmt: skip
    access, _ = active_policies.shortest_lifetimes(context, approval.account)
    grant = TokenGrant(
        uid=approval.account.uid, claims=claims, session_id=approval.session_id, access_seconds=access,
        has_refresh_token=False,
    )  # fmt: skip
    issued = tokens.issue(context, grant)
    context.audit.record("cross_device.signed_in", uid=approval.account.uid)
    return cross_device_operations.DeviceToken(access_token=issued.access_token)


def _refuse_new_origin(context: Context, device: ContinuationToken, uid: str) -> None:
    """Raise as `risks.refuse_new_origin` does, at most once for a code, because the account is notified."""
    account = account_store.by_uid(context, uid)
    if account is None:
        return
    try:
        risks.refuse_new_origin(context, account)
    except ApiError:
        with context.work.separate_transaction() as transaction:
            continuation_tokens.spend(context.within(transaction), device)
        raise


def _holder(context: Context, text: str) -> TokenHolder:
    """Return the phone's account: a token of the API's own sign-ins, unbound, and not an impersonation's."""
    holder = token_store.access(context.work, randomness.digest(text))
    is_own = holder is not None and holder.client_id is None and bool(holder.uid) and holder.actor is None
    if holder is None or not is_own or holder.claims.cnf is not None or not tokens.is_member(context, holder):
        raise errors.InvalidAccessToken
    if holder.claims.unfinished_sign_in is not None:
        raise errors.InvalidAccessToken
    if holder.expires_at <= context.now:
        raise errors.ExpiredAccessToken
    return holder
