"""Operations of push approval for programs and for the device."""

from __future__ import annotations

import io
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.second_factors import push_operations
from app.contract.second_factors.challenge import ChallengeToken, FactorKind, FactorLogin
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in import completion, pending_sign_in
from app.identity.credentials import notifications
from app.identity.credentials.second_factors import push_approval
from app.identity.credentials.second_factors.authenticators import push
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions, FactorResponse
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses
from app.identity.public_api.sign_in.complete_challenge import find_pending, find_unlocked
from app.kit.operations.wire import Document

_WIDTHS: Final = range(80, 1_001)


@push_operations.resend.implements
def resend(context: Context, req: ChallengeToken) -> Posted:
    pending = find_unlocked(context, req.second_factor_authentication_token)
    _, challenge = pending_sign_in.challenge(context, pending, FactorKind.PUSH, ChallengeOptions())
    if challenge.sent_to is None:
        raise errors.PushNotEnrolled
    return Posted()


@push_operations.ping.implements
def ping(context: Context, req: push_operations.PushPing) -> FactorLogin:
    try:
        pending = find_pending(context, req.second_factor_authentication_token)
    except (errors.UnknownFactorToken, errors.ExpiredFactorToken):
        raise errors.WrongPushToken from None
    pending = pending_sign_in.verify(context, pending, FactorKind.PUSH, FactorResponse())
    return sign_in_responses.present(context, completion.after_second_factor(context, pending), fields=req.fields_)


@push_operations.answer.implements
def answer(context: Context, req: push_operations.DeviceAnswer) -> Posted:
    push_approval.answer_request(context, req)
    return Posted()


@push_operations.picture.implements
def picture(context: Context, req: push_operations.EnrolmentPicture) -> Document:
    import segno

    push.by_registration_token(context, req.token)
    code, image = segno.make(push.registration_url(context, req.token), error="m", micro=False), io.BytesIO()
    settings = context.tenant.settings.push
    width = req.size or (settings.qr_code_width if settings else _WIDTHS[0])
    if width not in _WIDTHS:
        raise errors.BadParameter.names("size")
    code.save(image, kind="png", scale=max(1, width // code.symbol_size(border=4)[0]), border=4)
    return Document(image.getvalue(), "image/png")


@push_operations.register_device.implements
def register_device(context: Context, req: push_operations.DeviceRegistration) -> push_operations.DeviceRegistered:
    account = push_approval.register_device(context, req)
    if account is not None:
        notifications.notify_factor_change(context, MailKind.FACTOR_ADDED, account, FactorKind.PUSH)
    return push_operations.DeviceRegistered()
