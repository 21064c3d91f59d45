"""Push approval on another device."""

from __future__ import annotations

from typing import Any, Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice

_UNREACHABLE: Final = Notice(
    _l("We couldn’t send the request"),
    _l("Something isn’t responding on our side. Try again in a moment, or try another way."),
)


class PushForm(FactorForm):
    """A form without fields: the other device answers."""

    notices = {
        errors.PushPending: Notice(
            _l("No answer yet"), _l("Approve the request on your device, then check again."), "note"
        ),
        errors.PushDenied: Notice(_l("Request denied"), _l("Denied it by mistake? Send a new request.")),
        errors.PushFailed: Notice(
            _l("Wrong number"),
            _l("Send a new request, then choose the number shown on this page."),
        ),
        errors.WrongPushToken: Notice(_l("Request expired"), _l("Send a new request."), "note"),
        errors.TooManyRequests: Notice(
            _l("We just sent a request"), _l("Wait a moment before sending another one."), "note"
        ),
        **dict.fromkeys((errors.PushMisconfigured, errors.PushOff, errors.PushNotEnrolled), _UNREACHABLE),
    }

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        return FactorAnswer(interaction_id=interaction_id, kind=FactorKind.PUSH, trust=bool(self.trust.data))


_SCAN: Final = "https://api.acme.example/identity/v2/auth/push/device?apikey=0&token=sample"


def _prompt(**members: Any) -> FactorPrompt:
    return FactorPrompt(kind=FactorKind.PUSH, app="Acme Keys", targets=["Pixel 9"], **members)


PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.PUSH,
    name=_l("Approve on your device"),
    hint=_l("Get a request in your app"),
    icon="phone",
    is_on_phone=True,
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
        "scanned": _prompt(state="waiting", number="42"),
        "scanned by a device without a name": FactorPrompt(kind=FactorKind.PUSH, app="Acme Keys", state="waiting"),
    },
)  # fmt: skip
