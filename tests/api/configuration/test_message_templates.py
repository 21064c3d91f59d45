"""A tenant's own mails and text messages in the configuration file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.directory.tenants import tenant_writes
from app.identity.messaging.tenant_templates import template_store
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork

HEAD = "tenants:\n  - name: acme\n"
MAILS = """\
    mail_templates:
      - type: forgotpassword
        subject: "A new password, #Name#"
        html: |
          <h1>Hello #Name#</h1>
          <p><a class="button" href="#Url#">Go</a></p>
        text: "Go: #Url#"
      - {type: forgotpassword, name: forgotpassword-default-de, subject: Neues Passwort, html: "<p>#Url#</p>"}
      - {type: welcome, name: spring, subject: "Grüße ✿", html: "<p>A \\"B\\" 'C' & D</p>\\n\\n <p>x</p> \\n", is_active: false}
    sms_templates:
      - {type: verification, text: "#OTP# is it\\nBye"}
"""


@pytest.fixture
def ours(own_services: IdentityServices) -> IdentityServices:
    return own_services


def applied(services: IdentityServices, text: str, *, prune: bool = False) -> ChangePlan:
    return apply_configuration.apply(services, read(text.encode(), "f.yaml", Path()), prune=prune)


def lines(plan: ChangePlan) -> list[tuple[str, str, str]]:
    return [(change.kind, change.name, str(change.action)) for change in plan.changes if change.kind != "tenant"]


def stored(services: IdentityServices) -> tuple[int, list[Any]]:
    """Return the tenant's version and its templates."""
    work = UnitOfWork(services.database, "lookup")
    try:
        tenant = tenant_writes.by_name(work, "acme")
        if tenant is None:
            return 0, []
        work.switch_tenant(tenant.tenant_id)
        return tenant.version, [*template_store.contents(work, "mail"), *template_store.contents(work, "sms")]
    finally:
        work.rollback()


def test_templates_are_planned_and_stored(ours: IdentityServices) -> None:
    planned = apply_configuration.plan(ours, read((HEAD + MAILS).encode(), "f.yaml", Path()))
    assert stored(ours) == (0, [])
    plan = applied(ours, HEAD + MAILS)
    expected = [
        ("mail_template", "forgotpassword forgotpassword-default", "create"),
        ("mail_template", "forgotpassword forgotpassword-default-de", "create"),
        ("mail_template", "welcome spring", "create"),
        ("sms_template", "verification verification-default", "create"),
    ]
    assert lines(planned) == lines(plan) == expected
    assert [(kind, name) for kind, name, _ in stored(ours)[1]] == [tuple(name.split()) for _, name, _ in expected]
    assert applied(ours, HEAD + MAILS).is_empty


def test_exported_templates_round_trip(ours: IdentityServices) -> None:
    applied(ours, HEAD + MAILS)
    before, text = stored(ours), export(ours, "acme")
    assert applied(ours, text).is_empty
    assert stored(ours) == before
    assert "html: |" in text
    applied(ours, HEAD + "    mail_templates: []\n    sms_templates: []\n", prune=True)
    assert stored(ours)[1] == []
    applied(ours, text)
    assert stored(ours)[1] == before[1]
    assert export(ours, "acme") == text


def test_template_change_is_planned_and_increments_version(ours: IdentityServices) -> None:
    applied(ours, HEAD + MAILS)
    before = stored(ours)[0]
    plan = applied(ours, HEAD + MAILS.replace("Neues Passwort", "Ein neues Passwort"))
    assert [change.details for change in plan.changes if change.action == "change"] == [
        ("subject: Neues Passwort -> Ein neues Passwort",)
    ]
    assert stored(ours)[0] == before + 1


def test_templates_are_removed_only_with_prune(ours: IdentityServices) -> None:
    applied(ours, HEAD + MAILS)
    item = MAILS.partition("      - {type: forgotpassword")[0]
    plan = applied(ours, HEAD + item)
    assert "not in the file; remove it with --prune" in str(plan)
    assert len(stored(ours)[1]) == 4
    assert lines(applied(ours, HEAD, prune=True)) == []
    plan = applied(ours, HEAD + item, prune=True)
    assert ("mail_template", "welcome spring", "remove") in lines(plan)
    assert [kind for kind, _, _ in stored(ours)[1]] == ["forgotpassword", "verification"]


WRONG = [
    ('{type: welcome, subject: "a", html: "<p>#Nmae#</p>"}', "html: expected a placeholder of this kind; found #Nmae#"),
    ('{type: forgotpassword, subject: "a", html: "<p>x</p>"}', "html: expected #Url# or #OTP#"),
    ('{type: welcome, subject: "a", html: "<p>x"}', "html: expected </p> after <p> (in its line 1)"),
    ('{type: welcome, subject: "a\\nBcc: b", html: "<p>x</p>"}', "subject: expected one line"),
    ('{type: welcome, subject: "#Url#", html: "<p>x</p>"}', "subject: expected no #Url#"),
    ('{type: wellcome, subject: "a", html: "<p>x</p>"}', "type: expected"),
    ('{type: welcome, subject: "a", htm: "<p>x</p>"}', "htm: isn't a known key; did you mean html?"),
    ('{type: welcome, subject: "a"}', "html: is missing"),
    ('{type: welcome, subject: "a", html: "<p>Hi #Name, you</p>"}', "html: expected #Name#; #Name isn't closed"),
    ('{type: welcome, subject: "For #Name", html: "<p>x</p>"}', "subject: expected #Name#; #Name isn't closed"),
    (
        '{type: welcome, subject: "a", html: "<p>Hi {{ user.first_name }}</p>"}',
        "html: expected #FirstName#; {{ user.first_name }} isn't a placeholder",
    ),
    (
        '{type: welcome, subject: "a", html: "<p>{% if x %}</p>"}',
        "html: expected placeholders such as #Name#; {% if x %} isn't a placeholder",
    ),
    ('{type: welcome, name: "a b", subject: "a", html: "<p>x</p>"}', "name: expected"),
]


@pytest.mark.parametrize(("template", "problem"), WRONG)
def test_problem_is_reported_with_line_and_key(template: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(f"{HEAD}    settings: {{}}\n    mail_templates:\n      - {template}\n".encode(), "f.yaml", Path())
    assert f"f.yaml:5: tenants[0].mail_templates[0].{problem}" in str(refused.value)


def test_signs_that_only_look_like_placeholders_are_accepted() -> None:
    html = "<p><a href='https://a.example/#City'>#1 of #ours</a> C# {x} 100%}</p><p>#FPass a #Name# FPass#</p> #Name##Email# #Url#"
    page = "<html><head><style>#City p {color:#fff}</style></head><body><p>#Name#</p></body></html>"
    templates = [
        {"type": "forgotpassword", "subject": "#1", "html": html},
        {"type": "welcome", "subject": "a", "html": page},
    ]
    text = f"{HEAD}    settings: {{}}\n    mail_templates: {json.dumps(templates)}\n"
    assert read(text.encode(), "f.yaml", Path()).tenants


def test_all_problems_are_reported_together() -> None:
    bad = HEAD + "".join(
        [
            "    settings: {}\n    mail_templates:\n",
            *(f"      - {template}\n" for template, _ in WRONG[:3]),
            "    sms_templates:\n      - {type: verification, text: hello}\n",
        ]
    )
    with pytest.raises(ConfigurationError) as refused:
        read(bad.encode(), "f.yaml", Path())
    assert [(problem.line, problem.key) for problem in refused.value.problems] == [
        (5, "tenants[0].mail_templates[0].html"),
        (6, "tenants[0].mail_templates[1].html"),
        (7, "tenants[0].mail_templates[2].html"),
        (7, "tenants[0].mail_templates[2].name"),
        (9, "tenants[0].sms_templates[0].text"),
    ]


def test_unknown_custom_field_placeholder_is_refused(ours: IdentityServices) -> None:
    mail = '    mail_templates: [{type: welcome, subject: a, html: "<p>#Shoe#</p>"}]\n'
    applied(ours, HEAD + "    settings: {custom_fields: [Shoe]}\n" + mail)
    assert applied(ours, HEAD + mail).is_empty
    for text in (HEAD + "    settings: {}\n" + mail, HEAD + mail.replace("#Shoe#", "#Hat#")):
        with pytest.raises(ConfigurationError, match=r"mail_templates\[0\]\.html: expected a placeholder of this kind"):
            applied(ours, text)
