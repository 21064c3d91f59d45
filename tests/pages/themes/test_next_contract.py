"""A theme of contract 1 stays as it is under a made-up contract 2, which adds a page, a field and a block."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from jinja2 import ChoiceLoader, DictLoader

from app.contract.tenants.branding import Brand
from app.contract.themes import page_templates, theme_contract
from app.hub import gallery
from app.hub.tenants import own_templates
from app.kit.package_files import TEMPLATES
from app.kit.templating.contract import Value, ValueKind
from tests.support.browsers import page_samples

LOGIN = "pages/sign_in/login.html"
NEW_BLOCK = "{% block facts %}\n<p>ONE NEW BLOCK</p>\n{% endblock %}\n"
NEW_FIELD = '<input type="hidden" name="added" value="ONE NEW FIELD">\n'
ADDED = ("<p>ONE NEW BLOCK</p>", NEW_FIELD.strip())
REPLACED = {
    "layouts/split.html": '<div class="own-frame">{{ mark() }}{{ content() }}{{ footer() }}</div>',
    "layouts/console.html": "{{ bar() }}{{ tabs() }}{{ content() }}{{ footer() }}",
    "macros/field.html": "{{ label() }}{{ control() }}{{ note() }}{{ beside() }}",
    "macros/notice.html": "{{ message() }}{{ problems() }}",
    LOGIN: '<div class="own-top">{{ sign() }}{{ heading() }}</div>{{ notice() }}{{ body() }}{{ methods() }}{{ more() }}{{ ways_out() }}',
    "pages/registration/register.html": '{% block lead %}<p class="own-lead">{{ name }}</p>{% endblock %}',
    "pages/recovery/forgotten_credential.html": '{% block body %}<div class="own-box">{{ super() }}</div>{% endblock %}',
    "pages/sign_in/choose_account.html": "{{ heading() }}{{ notice() }}{{ body() }}",
    "pages/security/overview.html": "{% block lead %}{% endblock %}",
    "components/error.html": "{% block sign %}<p>Oh</p>{% endblock %}",
}
PAGES = ("LoginPage", "RegisterPage", "ForgotPage", "ChooseAccountPage", "SecurityPage", "ErrorPage")


def made_up(pages: Mapping[str, page_templates.PageContract]) -> dict[str, page_templates.PageContract]:
    """Return the pages of contract 2: another page, and a block and a value more on the sign-in page."""
    login, blocks = pages[LOGIN], {}
    for name, is_required in pages[LOGIN].blocks.items():
        if name == "notice":
            blocks["facts"] = True
        blocks[name] = is_required
    values = {**login.values, "added": Value(ValueKind.TEXT, "A value of contract 2.")}
    return {
        **pages,
        LOGIN: replace(login, values=values, blocks=blocks, since={"facts": 2}),
        "pages/sign_in/added.html": pages["pages/sign_in/choose_account.html"],
    }


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the function that upgrades this process to contract 2."""

    def upgraded() -> None:
        source = (TEMPLATES / LOGIN).read_text()
        source = source.replace("{% block notice %}", NEW_BLOCK + "{% block notice %}", 1)
        source = re.sub(r"(<form class=\"form[^>]*>\n)", rf"\1{NEW_FIELD}", source, count=1)
        environment = page_samples.hub().jinja_env
        loader = environment.loader
        assert loader is not None
        monkeypatch.setattr(environment, "loader", ChoiceLoader([DictLoader({LOGIN: source}), loader]))
        monkeypatch.setattr(environment, "bytecode_cache", None)
        environment.cache.clear()  # type: ignore[union-attr]  # it is a dictionary, as the environment has no limit
        later = made_up(page_templates.page_templates())
        monkeypatch.setattr(page_templates, "page_templates", lambda: later)
        own_templates.COMPILED.clear()

    yield upgraded
    own_templates.COMPILED.clear()
    page_samples.hub().jinja_env.cache.clear()  # type: ignore[union-attr]  # as above


def rendered(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    own = replace(gallery.TENANTS["acme"], templates=own_templates.own_templates(REPLACED, number=1))
    assert own.templates.left_out == ()
    monkeypatch.setitem(gallery.TENANTS, "contracts", own)
    found = {}
    for page in PAGES:
        for state in page_samples.states()[page]:
            html = page_samples.PAGES.render(page, state, "en", "contracts").html
            found[f"{page} {state}"] = re.sub(
                r'nonce="[^"]*"|name="token" value="[^"]*"|datetime="[^"]*">[^<]*', "", html
            )
    return found


def without_added(html: str) -> str:
    for words in ADDED:
        html = html.replace(words, "")
    return re.sub(r"\s+", " ", html).replace("> <", "><")


def test_theme_of_contract_1_renders_unchanged(monkeypatch: pytest.MonkeyPatch, upgrade: Any) -> None:
    before = rendered(monkeypatch)
    upgrade()
    after = rendered(monkeypatch)
    assert before.keys() == after.keys()
    assert {name: without_added(html) for name, html in after.items()} == {
        name: without_added(html) for name, html in before.items()
    }
    login = after["LoginPage fresh"]
    assert login.index("Sign in to") < login.index(ADDED[0]) < login.index("<form"), (
        "the new block stands where ours has it"
    )
    assert ADDED[1] in login, "the form has the new field"


def test_theme_of_contract_2_places_the_new_block(upgrade: Any) -> None:
    upgrade()
    page = page_templates.page_templates()[LOGIN]
    source, known = REPLACED[LOGIN], lambda _: True
    assert [*page_templates.page_problems(page, source, 1, known)] == []
    (problem,) = page_templates.page_problems(page, source, 2, known)
    assert "{{ facts() }}" in problem.sentence


def test_contract_of_another_version_names_what_it_refuses(upgrade: Any) -> None:
    brand = Brand(
        templates=REPLACED, texts={"en": {"continue": "Go"}}, css=":root { --radius: 4px }\n.chip { color: var(--ink) }"
    )
    found = json.loads(json.dumps(theme_contract.document()))
    assert [*theme_contract.problems_under(found, brand)] == []
    found["texts"].remove("continue")
    found["properties"]["--radius"]["set"] = False
    del found["properties"]["--ink"], found["classes"]["chip"]
    del found["pages"]["components/error.html"]
    del found["layouts"]["layouts/split.html"]["parts"]["mark"]
    found["pages"]["pages/registration/register.html"]["blocks"].pop("lead")
    refused = [*theme_contract.problems_under(found, brand)]
    assert [each.expected.rpartition(" ")[2] for each in refused if each.path == ("css",)] == [
        ".chip",
        "--ink",
        "--radius",
    ]
    assert {("/".join(each.path), each.line) for each in refused} == {
        ("texts/en/continue", 0), ("css", 1), ("css", 2), ("templates/components/error.html", 1), ("templates/layouts/split.html", 1),
        ("templates/pages/registration/register.html", 1),
    }  # fmt: skip


def test_contract_of_another_version_refuses_in_mails() -> None:
    mails = {
        "mails/layout.html": "{{ content() }}\n{{ signature }}{{ reason() }}",
        "mails/reset.html": "{% block heading %}\n{{ recipient }} {{ name }}{% endblock %}",
        "mails/captcha.html": "{% block lifetime %}{{ super() }}{% endblock %}",
        "mails/welcome.html": "{% block heading %}{{ name }}{% endblock %}",
    }
    found = json.loads(json.dumps(theme_contract.document()))
    assert [*theme_contract.problems_under(found, Brand(templates=mails))] == []
    del found["mails"]["mails/layout.html"]["values"]["signature"]
    del found["mails"]["mails/reset.html"]["values"]["recipient"]
    found["mails"]["mails/captcha.html"]["blocks"].remove("lifetime")
    del found["mails"]["mails/welcome.html"]
    refused = theme_contract.problems_under(found, Brand(templates=mails))
    assert sorted((each.path[1], each.line) for each in refused) == [
        ("mails/captcha.html", 1), ("mails/layout.html", 2), ("mails/reset.html", 2), ("mails/welcome.html", 1),
    ]  # fmt: skip


def test_contract_without_a_text_refuses_who_shows_it() -> None:
    shown = '{{ text("continue") }}'
    templates = {
        "layouts/split.html": f"{{{{ content() }}}}\n{shown}{{{{ footer() }}}}",
        LOGIN: f"{{% block lead %}}<p>{shown}</p>{{% endblock %}}",
        "mails/reset.html": f"{{% block heading %}}{shown}{{% endblock %}}",
    }
    found = json.loads(json.dumps(theme_contract.document()))
    assert [*theme_contract.problems_under(found, Brand(templates=templates))] == []
    found["texts"].remove("continue")
    refused = theme_contract.problems_under(found, Brand(templates=templates))
    assert {(each.path[1], each.line) for each in refused} == {
        ("layouts/split.html", 2),
        (LOGIN, 1),
        ("mails/reset.html", 1),
    }
