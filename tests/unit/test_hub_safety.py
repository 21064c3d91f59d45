"""Form tokens and seals: what they take, and what they must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hub.folding import folded
from app.hub.keys import Seal, derive
from app.hub.safety import FormTokens
from app.identity import vault

TOKENS = FormTokens(b"k" * 32)
BOUND = ("acme", "attempt", "binding")


def test_the_key_of_hub_calls_is_the_one_of_the_service() -> None:
    assert derive(b"s" * 32, "hub calls") == vault.derive(b"s" * 32, "hub calls")


def test_a_token_is_good_where_it_was_made_and_differs_each_time() -> None:
    first, second = TOKENS.make(*BOUND), TOKENS.make(*BOUND)
    assert first != second
    assert TOKENS.is_good(first, *BOUND)
    assert TOKENS.is_good(second, *BOUND)


@pytest.mark.parametrize(
    "other", [("globex", "attempt", "binding"), ("acme", "other", "binding"), ("acme", "attempt", "other")]
)
def test_it_is_good_nowhere_else(other: tuple[str, ...]) -> None:
    assert not TOKENS.is_good(TOKENS.make(*BOUND), *other)


def test_without_a_secret_of_the_browser_nothing_is_good() -> None:
    assert not TOKENS.is_good(TOKENS.make("acme", "", ""), "acme", "", "")


@given(st.text(max_size=80))
def test_no_text_is_taken_for_a_token(text: str) -> None:
    assert not TOKENS.is_good(text, *BOUND)


def test_a_seal_opens_in_its_place_only_and_after_a_rotation() -> None:
    old, new = Seal([b"a" * 32]), Seal([b"b" * 32, b"a" * 32])
    sealed = old.close({"x": 1}, "here")
    assert new.open(sealed, "here") == {"x": 1}
    assert new.open(sealed, "there") is None
    assert Seal([b"b" * 32]).open(sealed, "here") is None


@given(st.text(max_size=200))
def test_no_text_is_taken_for_a_seal(text: str) -> None:
    assert Seal([b"a" * 32]).open(text, "here") is None


@pytest.mark.parametrize(
    ("path", "read_as"),
    [
        ("/LOGIN", "/login"),
        ("/Service/OIDC/MyShop/Authorize", "/service/oidc/MyShop/authorize"),
        ("/SERVICE/oidc/Authorize", "/service/oidc/authorize"),
        ("/Callback/Profile", "/callback/profile"),
        ("/Static/Hub.css", "/static/Hub.css"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_fixed_segments_ignore_letter_case_and_names_keep_theirs(path: str, read_as: str) -> None:
    assert folded(path) == read_as
