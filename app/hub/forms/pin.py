"""A new PIN, wherever it is set: its field, what it may be, and why it is refused."""

from __future__ import annotations

from typing import Any, Final

from flask_babel import lazy_gettext as _l
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract.pin_settings import Pins
from app.hub.forms.account import PasswordConfirmationForm
from app.kit.errors import ApiError


class PinForm(PasswordConfirmationForm):
    """The PIN; and the password, where the last proof is too old. No password manager is to keep the one as the other."""

    pin = PasswordField(
        _l("New PIN"),
        [InputRequired(_l("Choose a PIN."))],
        render_kw={"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"},
    )

    def add_refusal(self, refusal: ApiError) -> bool:
        """Lay what was refused on its field; returns whether it has one."""
        if isinstance(refusal, e.BadParameter):
            self.add_error("pin", _REFUSED)
            return True
        return super().add_refusal(refusal)


_REFUSED: Final = _l("This PIN may not be: it is too short or too long, or the first that everybody tries.")


def hint(rules: Pins) -> Any:
    """What a PIN may be, in words."""
    if rules.min_length == rules.max_length:
        return _l("%(num)s digits, neither all the same nor in a row.", num=rules.min_length)
    return _l(
        "%(least)s to %(most)s digits, neither all the same nor in a row.",
        least=rules.min_length,
        most=rules.max_length,
    )
