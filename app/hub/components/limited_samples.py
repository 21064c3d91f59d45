"""Samples of the login page after a provider's answer, and where an organization or a workflow limits how people sign in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.contract.organizations.settings import ConnectionOption
from app.hub.components import sign_in_methods
from app.hub.components.sign_in_refusals import PROVIDER_SAMPLES

P = TypeVar("P")


def of_all(cls: Callable[..., P], form: Any) -> Mapping[str, P]:
    """Return all of them; `cls` is the class of the page, `form` its form."""
    return {**of_answers(cls, form), **of_limits(cls, form), **of_denials(cls, form)}


def of_answers(cls: Callable[..., P], form: Any) -> Mapping[str, P]:
    known = {**PROVIDER_SAMPLES, "email of another organization": "domain", "no member of the organization": "member"}
    return {name: cls(form, needs=needs, reference="BCDF-GHJK-LMNP") for name, needs in known.items()}


def of_denials(cls: Callable[..., P], form: Any) -> Mapping[str, P]:
    text = "Partners sign in with their company account."
    return {
        "refused by a workflow": cls(form, relying_party="Acme Shop", denial=text),
        "refused by a silent workflow": cls(form, denial=""),
        "refused before the sign-in": cls(form, relying_party="Acme Shop", denial=text, needs="closed"),
    }


def of_limits(cls: Callable[..., P], form: Any) -> Mapping[str, P]:
    methods = sign_in_methods.sample_methods()
    options = (ConnectionOption(connection=f"conn_{title}", title=title) for title in ("entra", "okta"))
    connections = sign_in_methods.organization_methods(options)
    return {
        "one method required": cls(form, limit=sign_in_methods.sample_limit("password")),
        "several connections required": cls(
            form, limit=sign_in_methods.sample_limit("connection"), connections=connections
        ),
        "connections of the organization alone": cls(
            form,
            relying_party="Acme Shop",
            required=sign_in_methods.sample_limit("connection"),
            connections=connections,
        ),
        "connections of the organization alone, canceled": cls(
            form, required=sign_in_methods.sample_limit("connection"), connections=connections[:1], needs="denied"
        ),
        "one method of a workflow": cls(form, entry=frozenset(("email",)), methods=methods[:1]),
        "another method required": cls(form, limit=sign_in_methods.sample_limit("email", "sms"), methods=methods),
    }
