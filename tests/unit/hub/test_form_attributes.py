"""The attributes of controls: as WTForms writes them, and nothing ends an attribute early."""

from typing import Any

import pytest
from flask_babel.speaklater import LazyString
from markupsafe import Markup
from wtforms import (
    BooleanField,
    Form,
    IntegerField,
    PasswordField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs
from wtforms.validators import InputRequired, Length
from wtforms.widgets import TextInput
from wtforms.widgets.core import html_params

from app.hub.rendering.widget_attributes import attributes, with_cached_attributes

VALUES: list[Any] = [
    True, False, None, "", 0, 7, "plain", "a\"b'c<d>&e", "ünï \u202e %s {k}", Markup('<b class="x">'),
    LazyString(lambda: 'says "yes" & <no>'), ["list"], "\n\t", "&quot;",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[f"value {number}" for number in range(len(VALUES))])
def test_attributes_are_those_of_wtforms(value: Any) -> None:
    values = {"value": value, "id": "x", "aria-label": value, "autofocus": True, "hidden": False}
    assert attributes(**values) == html_params(**values)


@pytest.mark.parametrize("value", ['" onfocus="alert(1)', Markup('" onfocus="alert(1)'), '"><script>', "'\"&<>"])
def test_value_cannot_end_its_attribute(value: str) -> None:
    written = attributes(value=value)
    assert written.count('"') == 2
    assert ("<" in written) == ("<" in value and isinstance(value, Markup))


class EveryKind(Form):
    """A form with a field of each kind that the hub has."""

    name = StringField("Name", [InputRequired(), Length(max=20)], render_kw={"autocomplete": "name", "data_x": "1"})
    password = PasswordField("Password", [InputRequired()])
    agreed = BooleanField("Agreed")
    count = IntegerField("Count")
    text = TextAreaField("Text", [Length(max=20)])
    choice = SelectField("Choice", choices=[SelectChoice("a", "A"), SelectChoice("b", "B")])


def test_every_kind_of_field_is_written_as_by_wtforms() -> None:
    form = EveryKind(data={"name": 'Ada "the" <Countess>', "agreed": True, "count": 3, "text": "<x>", "choice": "b"})
    for field in form:
        expected = str(field(class_="control", aria_label='"'))
        field.widget = with_cached_attributes(field.widget)
        assert str(field(class_="control", aria_label='"')) == expected
        assert with_cached_attributes(field.widget) is field.widget


def test_shared_widgets_of_wtforms_stay_as_they_are() -> None:
    shared = TextInput()
    assert with_cached_attributes(shared).html_params is attributes
    assert shared.html_params is html_params
