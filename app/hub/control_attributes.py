"""Form controls as WTForms writes them, with less work for each.

WTForms formats each attribute as markup of its own, and lists the members of an object for the rules of each control: half of
the rendering of a page with a form.
"""

from __future__ import annotations

from copy import copy
from functools import cache, lru_cache
from typing import Any

from markupsafe import Markup  # noqa: TID251 - names of the code, values that are escaped here
from wtforms.widgets import Input
from wtforms.widgets.core import clean_key  # type: ignore[attr-defined]  # newer than its stubs

from app.hub.escaping import written


def attributes(**given: Any) -> Markup:
    """Return attributes in alphabetical order. `True` stands for an attribute without a value, `False` for none."""
    parts = []
    for name in sorted(given):
        value = given[name]
        if value is True:
            parts.append(name)
        elif value is not False:
            parts.append(f'{name}="{_quoted(value)}"')
    return Markup(" ".join(parts))  # noqa: S704 - each value is escaped


def _quoted(value: Any) -> str:
    """Return a value that cannot end its attribute: a text that is markup may have quotation marks."""
    return str.replace(written(value), '"', "&quot;")  # markup's own `replace` would escape it again


class _Control(Input):
    """The `Input` of WTForms, before which it stands in the order of a widget's classes; without data lists, which no form has."""

    html_params = staticmethod(attributes)

    def __call__(self, field: Any, **given: Any) -> Markup:
        given.setdefault("id", field.id)
        given.setdefault("type", self.input_type)
        if "value" not in given:
            given["value"] = field._value()
        for name, rule in vars(field.flags).items():
            if name in self.validation_attrs:
                given.setdefault(name, rule() if callable(rule) else rule)
        return Markup(f"<input {attributes(name=field.name, **given)}>")  # noqa: S704 - each value is escaped


@cache
def _kind_of(widget: Any) -> Any:
    return (
        _Control
        if widget is Input
        else type(widget.__name__, (widget, _Control), {"html_params": staticmethod(attributes)})
    )


@lru_cache(maxsize=64)
def _quick(widget: Input) -> Input:
    kind: Any = type(widget)
    chosen = copy(widget)
    chosen.__class__ = _kind_of(kind)
    return chosen


def quick(widget: Any) -> Any:
    """Return a widget of WTForms that writes its attributes by `attributes`, where it is an input."""
    return _quick(widget) if isinstance(widget, Input) and not isinstance(widget, _Control) else widget


def rendered(field: Any, given: dict[str, Any]) -> Any:
    """Return a field's control with the attributes that are given, over its own."""
    chosen = {**field.render_kw, **given} if field.render_kw else given
    field.widget = quick(field.widget)
    return field.widget(field, **{clean_key(name) if "_" in name else name: value for name, value in chosen.items()})
