"""Forms: widgets, and how what was typed becomes a request.

Lengths and patterns stay in the contract; what it refuses lands on the field of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Self

from flask import current_app, has_request_context, request
from flask_babel import lazy_gettext as _l
from flask_wtf import FlaskForm
from pydantic import ValidationError
from wtforms import Field
from wtforms.csrf.core import CSRF
from wtforms.validators import ValidationError as Refused

from app.hub.safety import FormTokens, is_cross_origin
from app.hub.visit import current_visit
from app.kit.wire import Wire

TOKEN_FIELD: Final = "token"
_FOREIGN: Final = _l("This form was not sent from the page we drew for you.")


class BoundToken(CSRF):
    """WTForms' hook for the token, and for where the browser says that the form was sent from; both are `safety`'s."""

    def generate_csrf_token(self, csrf_token_field: Field) -> str:  # noqa: ARG002 - WTForms asks so
        return fresh_token()

    def validate_csrf_token(self, form: Any, field: Field) -> None:  # noqa: ARG002 - WTForms asks so
        if _is_foreign() or not _tokens().is_valid(field.data or "", *_bound_to()):
            raise Refused(_FOREIGN)


def _is_foreign() -> bool:
    site, origin = (request.headers.get(name, "") for name in ("Sec-Fetch-Site", "Origin"))
    is_https = current_app.extensions["gatehouse"].settings.public_scheme == "https"
    return is_cross_origin(site, origin, request.host, is_https=is_https)


def fresh_token() -> str:
    """Return a token for a form of this visit, masked anew."""
    return _tokens().make(*_bound_to())


def _tokens() -> FormTokens:
    tokens: FormTokens = current_app.extensions["gatehouse.form_tokens"]
    return tokens


def _bound_to() -> tuple[str, str, str]:
    visit = current_visit()
    return visit.tenant.name, visit.interaction.id if visit.interaction else "", visit.binding_secret


class HubForm(FlaskForm):
    """A form of a page."""

    is_first_prompt = False
    """Whether this answer asks for the password for the first time: a question, not a mistake."""

    request: Any = None
    """The request of a valid form, as `to_request` made it; set by `validate`."""

    class Meta(FlaskForm.Meta):
        csrf = True
        csrf_class = BoundToken
        csrf_field_name = TOKEN_FIELD

        def wrap_formdata(self, form: Any, formdata: Any) -> Any:  # noqa: ARG002 - WTForms asks so
            """Take the fields of a form and nothing else: neither files nor JSON can be the text of a field."""
            if formdata is None or hasattr(formdata, "getlist"):  # said by who makes the form, else WTForms' own mark
                return formdata
            return request.form if has_request_context() and request.method == "POST" else None

        def get_translations(self, form: Any) -> None:
            """None: every sentence is ours and goes through our own catalogue."""

    def to_request(self) -> Wire:
        """Return what was typed as the request of the form's operation."""
        raise NotImplementedError

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the token and the fields, then what the contract says of the request."""
        if not super().validate(extra_validators):
            return False
        if type(self).to_request is HubForm.to_request:
            return True
        try:
            self.request = self.to_request()
        except ValidationError as refusal:
            self._take(refusal)
            return False
        return True

    def _take(self, refusal: ValidationError) -> None:
        """Lay what the contract refuses on the fields of the same names; what has no field lies on the form."""
        for problem in refusal.errors(include_url=False, include_input=False):
            name = _field_name(problem["loc"])
            self.add_error(name, _SENTENCES.get(problem["type"], _SENTENCES["value_error"]))

    def add_error(self, name: str, sentence: Any) -> None:
        """Lay a problem on the field of this name, or on the form."""
        field = self._fields.get(name)
        if field is None:
            self.form_errors.append(sentence)
        elif sentence not in field.errors:
            field.errors = [*field.errors, sentence]

    def with_token_error(self) -> Self:
        """Return the form as one that came without the token of this browser."""
        self.add_error(TOKEN_FIELD, _FOREIGN)
        return self

    @property
    def is_token_invalid(self) -> bool:
        """Whether the form came without the token of this browser: the page is drawn again with what was typed."""
        return bool(self._fields[TOKEN_FIELD].errors)

    @property
    def error_status(self) -> int:
        """The status of the page that draws a refused form again."""
        return 403 if self.is_token_invalid else 422

    @property
    def problems(self) -> list[tuple[str, Any]]:
        """Each refused field's id with its sentence, in the order of the page."""
        return list(self._problems())

    def _problems(self) -> Iterator[tuple[str, Any]]:
        for field in self:
            if field.errors and field.short_name != TOKEN_FIELD:
                yield field.id, field.errors[0]


def _field_name(loc: tuple[int | str, ...]) -> str:
    """`FirstName` and `firstname` are the field `first_name`, as far as one is named so."""
    head = str(loc[0]) if loc else ""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in head).lstrip("_")


_SENTENCES: Final = {
    "missing": _l("Fill in this field."),
    "string_too_short": _l("This is too short."),
    "string_too_long": _l("This is too long."),
    "value_error": _l("Check how this is written."),
}
