"""The fields of codes that people copy from a message or an app."""

from __future__ import annotations

from typing import Any, Final

from wtforms import Field, StringField
from wtforms.validators import InputRequired, StopValidation

from app.hub.locale import lazy_gettext as _l
from app.kit.text.code_normalization import is_code

_INCOMPLETE: Final = _l("Enter a 6-digit code.")


class CodeField(StringField):
    """A code. A refused one is not shown again: the field would have the focus with the caret before it, and a typed code would join it."""

    def _value(self) -> str:
        return "" if self.errors or self.data is None else str(self.data)


class OneTimeCodeField(CodeField):
    """A code of six digits; spaces, dashes and digits of any script are accepted. Anything else is no try at the code."""

    def __init__(self, missing: Any, **options: Any) -> None:
        """Create the field. `missing`: the error of an empty one."""
        super().__init__(_l("6-digit code"), [InputRequired(missing), _check_form], **options)


def _check_form(form: Any, field: Field) -> None:  # noqa: ARG001 - WTForms' signature
    if not is_code(field.data or ""):
        raise StopValidation(_INCOMPLETE)
