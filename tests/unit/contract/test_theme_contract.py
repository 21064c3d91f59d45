"""The contract of themes is made of the pages as they are, and shows no secret of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from app.contract.themes import mail_templates
from app.contract.themes.layout_templates import LAYOUTS
from app.contract.themes.page_templates import BLOCKS, CONTRACT_FILE, MAIN, page_templates
from app.contract.themes.part_templates import PARTS
from app.contract.themes.theme_contract import document
from app.hub.rendering.page import Page, all_pages
from app.kit.templating.contract import TemplateContract, flag_of
from tools import theme_contract, theme_contract_released
from tools.theme_contract_page import page
from tools.theme_contract_samples import MAX_LENGTH, MOST
from tools.theme_contract_shown import SHOWN


def test_contract_is_current() -> None:
    assert CONTRACT_FILE.read_text(encoding="utf-8") == theme_contract.document(), "run python -m tools.theme_contract"
    assert theme_contract.PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.theme_contract"


WITHOUT_SAMPLES = {
    "pages/account/email_code.html": {"number"},
    "pages/account/phone_code.html": {"number"},
    "pages/recovery/reset_link.html": {"label"},
    "pages/security/passkey_offer.html": {"host"},
    "pages/security/passkeys.html": {"accepted"},
    **{f"mails/new_{what}.html": {"change"} for what in ("browser", "city", "country", "device", "ip")},
}
"""Values that no sample of the page or mail fills."""


def shown_values(values: Mapping[str, Any]) -> set[str]:
    """Return the names of texts and lists: flags have no samples."""
    return {name for name, value in values.items() if value["kind"] != "flag"}


def test_every_text_of_a_page_or_mail_has_a_sample() -> None:
    found = document()
    samples = found["samples"]
    views = {**found["layouts"], **found["pages"], **found["mails"]}
    missing = {
        name: left
        for name, view in views.items()
        if (
            left := shown_values(view["values"])
            - {*samples.get(name, {}), *samples["mails" if name in found["mails"] else "pages"]}
        )
    }
    assert missing == WITHOUT_SAMPLES
    assert samples["mails"]["recipient"] == ["Ada"]
    assert samples["pages/sign_in/login.html"]["initials"] == ["A"]


def test_samples_are_short_lines_of_promised_values() -> None:
    found = document()
    views = {**found["layouts"], **found["pages"], **found["mails"]}
    for name, values in found["samples"].items():
        if name in views:
            assert values.keys() <= shown_values(views[name]["values"])
        for key, seen in values.items():
            assert 1 <= len(seen) <= MOST, (name, key)
            for text in (text for each in seen for text in (each.values() if isinstance(each, dict) else [each])):
                assert isinstance(text, bool) or (len(text) <= MAX_LENGTH and text.isprintable()), (name, key)


def test_every_page_has_its_heading_and_what_people_do() -> None:
    for name, found in page_templates().items():
        assert found.blocks.get("heading"), name
        assert found.blocks.get("body", True), name


def test_no_value_is_a_secret() -> None:
    words = ("token", "secret", "password", "encrypted", "codes", "uri", "nonce", "uid")
    named = {
        f"{name}: {value}"
        for name, found in page_templates().items()
        for value in found.values
        if any(value == word or value.endswith(f"_{word}") for word in words)
    }
    assert named == {
        "pages/security/second_factors.html: backup_codes",  # the number of those that are left
        "pages/sign_in/login.html: asks_password",
    }


@dataclass(frozen=True)
class Row:
    name: str
    is_new: bool = False


@dataclass(frozen=True)
class MadeUp(Page):
    """A page that says about none of its texts that templates can show it."""

    code: str = ""
    """A code that opens something."""
    label: Any = ""
    """A text in the page's language."""
    account: str | None = None
    """The account."""
    count: int = 0
    """A number."""
    state: Literal["open", "closed"] = "open"
    """A state."""
    rows: tuple[Row, ...] = ()
    """Rows."""

    @property
    def link(self) -> str:
        """An address that opens something."""
        return "https://acme.example/?token=secret"


def test_text_is_denied_unless_its_class_lists_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = dict(theme_contract._values(MadeUp))
    assert found.keys() == {"count", "state", "rows"}
    assert found["rows"].members.keys() == {"is_new"}  # type: ignore[union-attr]  # a list
    monkeypatch.setitem(SHOWN, "MadeUp", {"account"})
    assert "account" in dict(theme_contract._values(MadeUp))


def test_every_text_that_is_shown_is_one() -> None:
    theme_contract.document()  # loads all pages
    classes = {each.__name__: each for kind in all_pages() for each in kind.__mro__}
    found = {name: classes[name] for name in SHOWN if name in classes}
    assert SHOWN.keys() - found.keys() == {"DomainRow", "FactorRow", "Scope", "SignInMethod"}
    for name, kind in found.items():
        assert SHOWN[name] <= vars(kind).keys() | kind.__annotations__.keys(), name


SENSITIVE = {
    "pages/sign_in/phone_approval.html": {"account", "decision", "device", "ip", "is_earlier", "place"},
    "pages/security/backup_codes.html": {"state"},
    "pages/sign_in/phone.html": {"minutes", "number", "state"},
    "pages/recovery/reset_link.html": {"continues", "label", "state"},
    "pages/security/passkey_offer.html": {"account", "host"},
}
"""What templates see of pages with codes, links and approvals."""


def test_sensitive_pages_show_what_is_listed() -> None:
    pages = page_templates()
    assert {name: {*pages[name].values} for name in SENSITIVE} == SENSITIVE


def contracts() -> Iterator[tuple[str, TemplateContract]]:
    """Yield the contract of each template, and of each block of pages and emails."""
    yield from (*LAYOUTS.items(), *PARTS.items(), (mail_templates.LAYOUT, mail_templates.LAYOUT_CONTRACT))
    for name, found in page_templates().items():
        yield from ((f"{name} {block}", found.contract(block, 1)) for block in (MAIN, *found.blocks))
    for name, kind in mail_templates.mails().items():
        yield from ((f"{name} {block}", mail_templates.block_contract(kind, block)) for block in mail_templates.BLOCKS)


def test_no_value_hides_a_function() -> None:
    found = list(contracts())
    hidden = [f"{name}: {value}" for name, each in found for value in each.values if value in ("text", *each.parts)]
    assert hidden == []
    assert len(found) > 500


def test_no_value_has_the_name_of_the_flag_of_a_block() -> None:
    flags = {flag_of(block) for block in BLOCKS}
    assert {
        name: flags & found.values.keys() for name, found in page_templates().items() if flags & found.values.keys()
    } == {}


def _one(_: object) -> int:
    """A number."""
    return 1


def test_value_that_would_hide_a_function_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MadeUp, "text", property(_one), raising=False)
    with pytest.raises(ValueError, match=r"MadeUp\.text would hide text\(\)"):
        dict(theme_contract._values(MadeUp))


def test_nothing_that_is_released_was_taken_away() -> None:
    assert theme_contract_released.removed() == []


@pytest.mark.parametrize(
    ("kind", "name", "inner", "line"),
    [
        ("classes", "chip", "", "css class chip"),
        ("properties", "--ink", "", "css property --ink"),
        ("layouts", "layouts/split.html", "values", "layouts/split.html text name"),
        ("layouts", "layouts/split.html", "parts", "layouts/split.html part mark optional"),
        ("pages", "components/error.html", "values", "components/error.html text home"),
        ("pages", "components/error.html", "blocks", "components/error.html part sign optional"),
        ("mails", "mails/reset.html", "values", "mails/reset.html text name"),
    ],
)
def test_what_is_taken_away_is_named(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str, inner: str, line: str
) -> None:
    changed = document()
    if inner:
        changed[kind] = {**changed[kind], name: {**changed[kind][name], inner: {}}}
    else:
        changed[kind] = {key: each for key, each in changed[kind].items() if key != name}
    monkeypatch.setattr(theme_contract_released, "document", lambda: changed)
    assert line in theme_contract_released.removed()
