"""Responses that many operations share."""

from typing import Any

from app.kit.operations.wire import Wire


class Posted(Wire):
    is_posted: bool = True


class SmsSent(Wire):
    account_sid: str
    sid: str


class PostedSms(Wire):
    is_posted: bool = True
    data: SmsSent


class Deleted(Wire):
    is_deleted: bool = True


Json = dict[str, Any]
