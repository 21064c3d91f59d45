"""The form that sets a PIN."""

from __future__ import annotations

from typing import Any, Final

from flask_babel import lazy_gettext as _l
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract.credential_settings import Pins
from app.hub.forms.account import PasswordConfirmationForm
from app.kit.errors import ApiError


class PinForm(PasswordConfirmationForm):
    """A new PIN, with the password if required. `one-time-code` keeps password managers from storing the PIN."""

    pin = PasswordField(
        _l("New PIN"),
        [InputRequired(_l("Choose a PIN."))],
        render_kw={"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"},
    )

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the refusal to its field; return whether it belongs to one."""
        if isinstance(refusal, e.BadParameter):
            self.add_error("pin", _REFUSED)
            return True
        return super().add_refusal(refusal)


_REFUSED: Final = _l("This PIN may not be: it is too short or too long, or the first that everybody tries.")


def hint(rules: Pins) -> Any:
    """Return the rules of a PIN as text."""
    if rules.min_length == rules.max_length:
        return _l("%(num)s digits, neither all the same nor in a row.", num=rules.min_length)
    return _l(
        "%(least)s to %(most)s digits, neither all the same nor in a row.",
        least=rules.min_length,
        most=rules.max_length,
    )
