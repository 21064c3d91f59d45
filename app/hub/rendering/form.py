"""The base class of forms: CSRF, validation, and the request that a form becomes.

Lengths and patterns stay in the contract; its errors appear at the field of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final, Self

from flask_wtf import FlaskForm
from pydantic import ValidationError
from wtforms import Field, HiddenField
from wtforms.csrf.core import CSRF
from wtforms.validators import ValidationError as Refused
from wtforms.widgets import EmailInput, PasswordInput, TextArea, TextInput

from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.widget_attributes import with_cached_attributes
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.web.csrf import is_cross_origin_request
from app.hub.web.errors import shown_for
from app.hub.web.services import services
from app.hub.web.visit import Visit, current_visit
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import Wire

TOKEN_FIELD: Final = "token"
_FEW_FIELDS: Final = 4
"""Maximum number of fields of a short form, which needs no error summary."""
_TYPED_INTO: Final = (TextInput, EmailInput, PasswordInput, TextArea)
_INVALID_TOKEN: Final = _l("This form has expired. Reload the page and try again.")


class FreshToken:
    """A CSRF token that is generated when a template renders it: most posted forms are not rendered again."""

    @cached_property
    def _text(self) -> str:
        return fresh_token()

    def __str__(self) -> str:
        return self._text


class BoundToken(CSRF):
    """WTForms' hook for the CSRF token of the visit and the check of the request's origin."""

    def generate_csrf_token(self, csrf_token_field: Field) -> FreshToken:  # type: ignore[override]  # noqa: ARG002 - WTForms' signature
        return FreshToken()

    def validate_csrf_token(self, form: Any, field: Field) -> None:  # noqa: ARG002 - WTForms' signature
        if not is_own_post(field.data or ""):
            raise Refused(_INVALID_TOKEN)


def is_own_post(token: str) -> bool:
    """Return whether a form with this CSRF token is one of the current visit, sent by a page of this host."""
    shared, visit = services(), current_visit()
    is_foreign = is_cross_origin_request(visit.environ, visit.host, is_https=shared.is_https)
    return not is_foreign and shared.form_tokens.is_valid(token, *_token_context(visit))


def fresh_token() -> str:
    """Return a newly masked CSRF token for the current visit."""
    visit = current_visit()
    return visit.form_token or services().form_tokens.make(*_token_context(visit))


def _token_context(visit: Visit) -> tuple[str, str, str]:
    return visit.tenant.name, visit.interaction.id if visit.interaction else "", visit.binding_secret


class HubForm(FlaskForm):
    """A form of a page. What Flask-WTF reads of Flask's request and session, it reads here of the visit (decision 0366)."""

    refusals: ClassVar[Mapping[type[ApiError], tuple[str, Any]]] = {}
    """For each error that is about a field: the field's name and its message."""
    short_names: ClassVar[Mapping[str, Any]] = {}
    """What the summary calls a field whose label is a sentence."""
    is_first_prompt = False
    """Whether this response asks for the password for the first time, which is not an error."""

    @property
    def first_fields(self) -> tuple[str, ...]:
        """Names of the fields of which the first empty one takes the focus; none on pages with text to read first."""
        return ()

    @property
    def provider_widget(self) -> WidgetView | None:
        """The captcha provider's widget if the form shows it."""
        return getattr(self._fields.get("captcha"), "provider_widget", None)

    class Meta(FlaskForm.Meta):
        csrf_class = BoundToken
        csrf_field_name = TOKEN_FIELD
        focused: Field | None = None
        """The field that has the focus in this rendering: a form that is rendered again may have it at another one."""

        def wrap_formdata(self, form: Any, formdata: Any) -> Any:  # noqa: ARG002 - WTForms' signature
            if formdata is None or hasattr(formdata, "getlist"):  # given by the caller, or WTForms' own marker
                return formdata
            visit = current_visit()
            return visit.form if visit.is_post else None

        def render_field(self, field: Field, render_kw: dict[str, Any]) -> Any:
            """Return the field's control with the tenant's placeholder, and with its attributes written by `attributes`."""
            field.widget = with_cached_attributes(field.widget)
            added: dict[str, Any] = {"autofocus": True} if field is self.focused else {}
            if isinstance(field.widget, _TYPED_INTO) and (own := getattr(field.label.text, "placeholder", "")):
                added["placeholder"] = own
            return super().render_field(field, added | render_kw)

    def is_submitted(self) -> bool:
        return current_visit().is_post

    def to_request(self) -> Wire:
        """Return the request of the form's operation."""
        raise NotImplementedError

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the CSRF token, the fields, and the request against the contract."""
        if not super().validate(extra_validators):
            return False
        if type(self).to_request is HubForm.to_request:
            return True
        try:
            self.to_request()
        except ValidationError as refusal:
            self.add_contract_errors(refusal)
            return False
        return True

    def add_contract_errors(self, refusal: ValidationError) -> None:
        """Add the contract's errors to the fields of the same names, or to the form."""
        for problem in refusal.errors(include_url=False, include_input=False):
            name = _field_name(problem["loc"])
            self.add_error(name, _sentence(problem["type"], problem.get("ctx") or {}))

    def add_error(self, name: str, sentence: Any) -> None:
        """Add an error to the field of this name, or to the form if there is none."""
        field = self._fields.get(name)
        if field is None:
            self.form_errors.append(sentence)
        elif sentence not in field.errors:
            field.errors = [*field.errors, sentence]

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the message of a refusal to its field; return whether the refusal is about a field."""
        shown = shown_for(refusal, self.refusals)
        if shown is not None:
            self.add_error(*shown)
        return shown is not None

    def with_token_error(self) -> Self:
        """Return the form with the error of an invalid CSRF token."""
        self.add_error(TOKEN_FIELD, _INVALID_TOKEN)
        return self

    @property
    def is_token_invalid(self) -> bool:
        """Whether the CSRF token is invalid; the page is then rendered again with the typed values."""
        return bool(self._fields[TOKEN_FIELD].errors)

    @property
    def error_status(self) -> int:
        """The status of the page that shows an invalid form again."""
        return 403 if self.is_token_invalid else 422

    @property
    def problems(self) -> list[tuple[str, Any]]:
        """Ids of the invalid fields with their first error, in the order of the page."""
        return list(self._problems())

    @property
    def listed_problems(self) -> list[tuple[str, Any]]:
        """Ids of the invalid fields with their labels, for the summary above the form; none if the fields show all at once.

        Each error is at its field. A field without a label of its own has it in the summary.
        """
        if self._visible_problems():
            return []
        return [(id_, self._label_of(id_) or problem) for id_, problem in self._problems()]

    def _label_of(self, id_: str) -> Any:
        field = next(field for field in self if field.id == id_)
        if not self.is_shown(field):
            return ""
        return self.short_names.get(field.short_name, field.label.text)

    def is_shown(self, field: Field) -> bool:
        """Return whether a field is visible; a script may replace a captcha."""
        return not isinstance(field, HiddenField) and not getattr(field, "is_replaced_by_script", False)

    @property
    def is_short(self) -> bool:
        """Whether the form has so few fields that all their errors are visible at once."""
        return sum(self.is_shown(field) for field in self) <= _FEW_FIELDS

    def set_focus(self, names: tuple[str, ...], *, is_wanted: bool) -> None:
        """Set the focus, if it is wanted, on the first field with an error if there is no summary; without errors, on the first
        empty field of these.
        """
        empty = [self[name] for name in names if not self[name].data]
        found = self._visible_problems() if self.problems or self.form_errors else empty
        self.meta.focused = next(iter(found), None) if is_wanted else None

    def _visible_problems(self) -> list[Field]:
        """Return the invalid fields if all their errors are visible at once: a single field, or a short form. Return an empty list if
        one is hidden or a captcha, which a script may replace. A summary would repeat errors on the same screen.
        """
        invalid = [field for field in self if field.errors and field.short_name != TOKEN_FIELD]
        if self.form_errors or not all(self.is_shown(field) for field in invalid):
            return []
        return invalid if self.is_short or len(invalid) == 1 else []

    def _problems(self) -> Iterator[tuple[str, Any]]:
        for field in self:
            if field.errors and field.short_name != TOKEN_FIELD:
                yield field.id, field.errors[0]


def _field_name(loc: tuple[int | str, ...]) -> str:
    """Return the field name of an error location: `FirstName` is `first_name`."""
    head = str(loc[0]) if loc else ""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in head).lstrip("_")


_SENTENCES: Final = {
    "missing": _l("Fill in this field."),
    "value_error": _l("That doesn’t look right. Check it and try again."),
}


def _sentence(kind: str, limits: Mapping[str, Any]) -> Any:
    """Return the sentence for an error of the contract: Pydantic's type and context."""
    if kind == "string_too_long":
        return too_long(limits["max_length"])
    if kind == "string_too_short":
        shortest = limits["min_length"]
        return _l("Use at least %(min)d characters.", min=shortest) if shortest > 1 else _SENTENCES["missing"]
    return _SENTENCES.get(kind, _SENTENCES["value_error"])


def too_long(longest: int) -> Any:
    """Return the sentence for a text of more than `longest` characters."""
    return _l("Use %(max)d characters or fewer.", max=longest)
