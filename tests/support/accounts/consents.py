"""Consent forms of a tenant, and answers to them."""

from __future__ import annotations

from typing import Any


def option(name: str, *, mandatory: bool = False) -> dict[str, Any]:
    return {"id": name, "title": {"en": name.title()}, "mandatory": mandatory}


def form(event: str, *options: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": event, "options": list(options), **more}


def required_forms(*events: str, **more: Any) -> dict[str, Any]:
    """Settings with a form for each event, whose terms must be accepted."""
    return {"consent_forms": [form(event, option("terms", mandatory=True), option("news"), **more) for event in events]}


def chosen(**choices: bool) -> list[dict[str, Any]]:
    return [{"ConsentOptionId": name, "IsAccepted": yes} for name, yes in choices.items()]


def consent_answers(*events: str, **choices: bool) -> dict[str, Any]:
    """Answers to the forms of built-in events; the terms are accepted unless overridden."""
    named = [{"Event": event, "IsCustom": False} for event in events]
    return {"Events": named, "Data": chosen(**(choices or {"terms": True}))}


POLICY = {"mode": "strict", "versions": [{"version": "7", "starts_at": "2020-01-01T00:00:00Z"}]}
