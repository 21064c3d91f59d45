"""The rows of approval on another device: what programs ask, what the device says (interface mfa.md section 8)."""

from __future__ import annotations

import io
from typing import Final

import segno

from app.contract import errors as e
from app.contract.groups import Posted
from app.contract.letters import MailKind
from app.contract.second_factors import push as contract
from app.contract.second_factors.challenge import MT, FactorKind, FactorLogin
from app.identity.authenticators import push
from app.identity.authenticators.protocol import Answer, Wish
from app.identity.call import Call
from app.identity.second_factors import pushing
from app.identity.sign_in import entry, second_factor
from app.identity.sign_in.factor_rows.answering import known, waiting
from app.identity.verification import notices
from app.kit.server import Server
from app.kit.wire import Document

_WIDTH: Final = range(80, 1_001)


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.resend)(resend)
    server.implements(contract.ping)(ping)
    server.implements(contract.answer)(answer)
    server.implements(contract.picture)(picture)
    server.implements(contract.register_device)(register_device)


def resend(call: Call, req: MT) -> Posted:
    found = waiting(call, req.second_factor_authentication_token)
    _, shown = second_factor.challenge(call, found, FactorKind.PUSH, Wish())
    if shown.sent_to is None:
        raise e.PushNotEnrolled
    return Posted()


def ping(call: Call, req: contract.PushPing) -> FactorLogin:
    try:
        found = known(call, req.second_factor_authentication_token)
    except (e.UnknownFactorToken, e.ExpiredFactorToken):
        raise e.WrongPushToken from None
    found = second_factor.prove(call, found, FactorKind.PUSH, Answer())
    account = second_factor.finish(call, found)
    return entry.session(call, account, found.way, req.fields_)


def answer(call: Call, req: contract.DeviceAnswer) -> Posted:
    pushing.answer(call, req)
    return Posted()


def picture(call: Call, req: contract.EnrolmentPicture) -> Document:
    push.by_token(call, req.token)
    drawn, image = segno.make(push.registration_address(call, req.token), error="m", micro=False), io.BytesIO()
    settings = call.tenant.settings.push
    wanted = req.size or (settings.qr_code_width if settings else _WIDTH[0])
    if wanted not in _WIDTH:
        raise e.BadParameter.names("size")
    drawn.save(image, kind="png", scale=max(1, wanted // drawn.symbol_size(border=4)[0]), border=4)
    return Document(image.getvalue(), "image/png")


def register_device(call: Call, req: contract.DeviceRegistration) -> contract.DeviceRegistered:
    enrolled = pushing.register(call, req)
    if enrolled is not None:
        notices.tell_factor(call, MailKind.FACTOR_ADDED, enrolled, FactorKind.PUSH)
    return contract.DeviceRegistered()
