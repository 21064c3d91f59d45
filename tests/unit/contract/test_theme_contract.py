"""The contract of themes is made of the pages as they are, and shows no secret of them."""

from __future__ import annotations

from app.contract.themes.page_templates import CONTRACT_FILE, page_templates
from tools import theme_contract
from tools.theme_contract_page import page


def test_contract_is_current() -> None:
    assert CONTRACT_FILE.read_text(encoding="utf-8") == theme_contract.document(), "run python -m tools.theme_contract"
    assert theme_contract.PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.theme_contract"


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
