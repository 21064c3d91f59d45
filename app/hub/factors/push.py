"""Push approval on another device."""

from __future__ import annotations

from typing import Any, Final

from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract.hub_second_factors import FactorAnswer, FactorPrompt
from app.contract.second_factors.challenge import FactorKind
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.page import Notice
from app.kit.errors import ApiError


class PushForm(FactorForm):
    """A form without fields: the other device answers."""

    def to_answer(self, attempt: str) -> FactorAnswer:
        return FactorAnswer(attempt=attempt, kind=FactorKind.PUSH, trust=bool(self.trust.data))

    def refusal_notice(self, refusal: ApiError) -> Notice | None:
        return next((notice for kind, notice in _NOTICES.items() if isinstance(refusal, kind)), None)


_UNREACHABLE: Final = Notice(
    _l("Your device cannot be asked now"), _l("That is nothing you did. Take another way, or try again in a while.")
)
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    e.PushPending: Notice(_l("No answer yet"), _l("Answer on your device, then check again."), "note"),
    e.PushDenied: Notice(_l("The request was denied"), _l("If that was you by mistake, have your device asked again.")),
    e.PushFailed: Notice(
        _l("That was not the right number"),
        _l("Have your device asked again, and choose the number that this page shows."),
    ),
    e.WrongPushToken: Notice(_l("The request is over"), _l("Have your device asked again."), "note"),
    e.TooManyRequests: Notice(
        _l("Your device was asked a moment ago"), _l("Wait a little before you have it asked again."), "note"
    ),
    **dict.fromkeys((e.PushMisconfigured, e.PushOff, e.PushNotEnrolled), _UNREACHABLE),
}
_SCAN: Final = "https://api.acme.example/identity/v2/auth/push/device?apikey=0&token=sample"


def _prompt(**members: Any) -> FactorPrompt:
    return FactorPrompt(kind=FactorKind.PUSH, app="Acme Keys", targets=["Pixel 9"], **members)


PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.PUSH,
    name=_l("Approval on your device"),
    hint=_l("A request that you answer in an app"),
    icon="phone",
    form=PushForm,
    scripts=("poll",),
    samples={
        "asked with a number": _prompt(is_enrolled=True, sent_to="Pixel 9", state="waiting", number="42", resend_in_seconds=24),
        "asked": _prompt(is_enrolled=True, sent_to="Pixel 9", state="waiting"),
        "not asked": _prompt(is_enrolled=True),
        "to enrol": FactorPrompt(
            kind=FactorKind.PUSH, uri=_SCAN, app="Acme Keys", state="drawn",
            stores={"App Store": "https://apps.example/acme", "Google Play": "https://play.example/acme"},
        ),
        "scanned": _prompt(sent_to="Pixel 9", state="waiting"),
    },
)  # fmt: skip
