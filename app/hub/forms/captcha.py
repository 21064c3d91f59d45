"""The captcha of forms: a proof of work that the browser computes, or the widget of the tenant's provider, with the proof of work for
people who cannot use it. A form that is sent without scripts gets an emailed link instead (`components/captcha_link.py`).

To use it, declare `captcha = CaptchaField()`, send `form.captcha.answer` with the request, call `prompt` with the challenge
of a refusal, and render it with the macro `captcha` of `macros/forms.html`; the page runs the scripts `work` and `widget`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from wtforms import StringField

from app.contract.captcha.models import CaptchaAnswer, CaptchaChallenge
from app.hub.locale import lazy_gettext as _l
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.web.visit import current_visit

_CHALLENGE: Final = re.compile(r"(?P<bits>\d{1,2})\.(?P<seed>[\w-]{22})", re.ASCII)
_PARTS: Final = ("challenge", "asked", "work", "proof", "randstr", "script", "link")
_WIDGET_ALONE: Final = "widget"
_MAX_BITS: Final = 22
_HOURS_OF_BITS: Final = 32
FAILED: Final = "", _l("We couldn’t verify that you’re human. Try again.")
"""The error of a failed captcha, which belongs to no field."""


class CaptchaField(StringField):
    """A challenge and its solution. Renders nothing before `prompt`, or before a posted form contains a challenge."""

    is_replaced_by_script = True
    """It has no control of its own."""
    challenge: CaptchaChallenge | None = None
    provider_widget: WidgetView | None = None
    """The widget of the tenant's provider, with the proof of work or alone."""
    was_refused = False
    """Whether the provider's response was refused, so that the proof of work begins at once."""

    def process(self, formdata: Any, data: Any = None, extra_filters: Any = None) -> None:
        """Read the solution and the challenge that it belongs to."""
        super().process(formdata, data, extra_filters)
        parts = {part: (formdata or {}).get(f"{self.name}_{part}", "") for part in _PARTS}
        if parts["asked"]:
            self._set(_read(parts["challenge"], parts["asked"]), current_visit().tenant.captcha)
        self.work, self.proof, self.randstr = parts["work"], parts["proof"], parts["randstr"]
        self.has_script, self.wants_link = bool(parts["script"]), bool(parts["link"])

    def prompt(self, challenge: CaptchaChallenge | None, widget: WidgetView | None = None) -> None:
        """Show a new challenge or the tenant's widget; the previous solution is dropped. Nothing is left to do for a challenge that an
        emailed link solved.
        """
        self._set(challenge, widget or current_visit().tenant.captcha)
        self.was_refused = bool(self.proof)
        self.work = _NO_WORK if self.is_solved_by_link else ""
        self.proof = self.randstr = ""

    def _set(self, challenge: CaptchaChallenge | None, widget: WidgetView | None) -> None:
        self.challenge, self.provider_widget = challenge, widget

    @property
    def is_shown(self) -> bool:
        return self.challenge is not None or self.provider_widget is not None

    @property
    def is_solved_by_link(self) -> bool:
        """Whether an emailed link solved the challenge."""
        return self.challenge is not None and self.challenge.work_bits == 0

    @property
    def needs_link(self) -> bool:
        """Whether only an emailed link can solve the challenge: the form was sent without scripts, or the visitor did not wait for them."""
        return self.challenge is not None and (self.wants_link or not (self.has_script or self.work or self.proof))

    @property
    def answer(self) -> CaptchaAnswer | None:
        """The solution for the request; None without a challenge. Raises ValidationError if it is too long."""
        if not self.is_shown:
            return None
        token = self.challenge.token if self.challenge else ""
        return CaptchaAnswer(challenge=token, work=self.work, proof=self.proof, randstr=self.randstr)

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """Hidden fields that render the challenge again without an API call. A provider's response is for one try."""
        names = {"script": ""}
        if self.provider_widget:
            names |= {"proof": "", "randstr": ""}
        if self.challenge is None:
            names["asked"] = _WIDGET_ALONE
        else:
            encoded = f"{self.challenge.work_bits}.{self.challenge.work_seed}"
            names |= {"challenge": self.challenge.token, "asked": encoded, "work": self.work}
        return [(f"{self.name}_{name}", value) for name, value in names.items()]


_NO_WORK: Final = "0"
"""The work for a challenge that takes none."""


def _read(token: str, encoded: str) -> CaptchaChallenge | None:
    """Parse the challenge of a posted form, which is untrusted: it only affects rendering."""
    match = _CHALLENGE.fullmatch(encoded)
    if match is None or not token or len(token) > 600:
        return None
    return CaptchaChallenge(token=token, work_seed=match["seed"], work_bits=min(int(match["bits"]), _MAX_BITS))


SAMPLE_WORK: Final = "103"
"""The solution of the sample with 8 bits."""


def sample(*, work_bits: int = _HOURS_OF_BITS) -> CaptchaChallenge:
    """Return a sample challenge, which no script solves while the page is open; `SAMPLE_WORK` solves one of 8 bits."""
    return CaptchaChallenge(token="sample", work_seed="0" * 22, work_bits=work_bits)
