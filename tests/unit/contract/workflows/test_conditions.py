"""The language of conditions: what it means, and that nothing a tenant writes breaks it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.contract.workflows import conditions
from app.contract.workflows.conditions import MAX_DEPTH, MalformedCondition
from app.contract.workflows.facts import ADDRESS, FACTS, FLAG, NUMBER, TEXT, TEXTS

ADA: dict[str, object] = {
    "account.email": "ada@acme.example",
    "account.email_domain": "acme.example",
    "account.created_days_ago": 3,
    "account.roles": ["admin", "editor"],
    "account.is_email_verified": True,
    "sign_in.methods": ("password", "mfa"),
    "request.ip": "192.0.2.7",
    "request.hour_utc": 23,
}


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("account.email == 'ada@acme.example'", True),
        ('account.email != "eve@acme.example"', True),
        ("account.created_days_ago < 7", True),
        ("account.created_days_ago >= 3.5", False),
        ("account.email_domain in ['acme.test', 'acme.example']", True),
        ("account.email_domain not in ['acme.test']", True),
        ("request.hour_utc in [22, 23]", True),
        ("'admin' in account.roles", True),
        ("'owner' in account.roles", False),
        ("account.is_email_verified", True),
        ("account.is_email_verified == false", False),
        ("not account.is_email_verified", False),
        ("request.ip in_network '192.0.2.0/24'", True),
        ("request.ip in_network ['10.0.0.0/8', '2001:db8::/32']", False),
        ("true or false and false", True),
        ("(true or false) and false", False),
        ("not (true and false)", True),
        ("(account.created_days_ago < 7) == true", True),
        ("\taccount.created_days_ago\n<7 and'mfa'in sign_in.methods", True),
        ("account.created_days_ago > -1", True),
    ],
)
def test_condition_has_its_documented_meaning(text: str, *, is_true: bool) -> None:
    assert conditions.parse(text).is_true(ADA) is is_true


@pytest.mark.parametrize("sign", ["==", "!="])
def test_comparison_with_an_absent_fact_is_false(sign: str) -> None:
    assert conditions.parse(f"account.country {sign} 'DE'").is_true({}) is False
    assert conditions.parse("account.country not in ['DE']").is_true({}) is False
    assert conditions.parse("account.has_passkey").is_true({}) is False
    assert conditions.parse("'a' not in account.roles").is_true({}) is False


@pytest.mark.parametrize("value", ["3", True, None, float("nan"), [3], object()])
def test_fact_of_another_type_is_absent(value: object) -> None:
    for sign in ("<", "!=", "=="):
        assert (
            conditions.parse(f"account.created_days_ago {sign} 7").is_true({"account.created_days_ago": value}) is False
        )


def test_mapped_address_is_in_the_network_of_version_4() -> None:
    assert conditions.parse("request.ip in_network '192.0.2.0/24'").is_true({"request.ip": "::ffff:192.0.2.9"})


MALFORMED = [
    ("", 1, "a name or a value"),
    ("account.email", 1, "a comparison"),
    ("account.emails == 'a'", 1, "the name of a fact"),
    ("account.__class__ == 'a'", 1, "the name of a fact"),
    ("account.created_days_ago == '7'", 29, "a number"),
    ("account.email < 'b'", 1, "a number"),
    ("account.email == 7", 18, "text"),
    ("account.email in 'acme'", 18, "a list"),
    ("account.email in account.email_domain", 18, "a list"),
    ("7 in ['a']", 1, "text"),
    ("account.email in []", 19, "a name or a value"),
    ("account.email in ['a', 1]", 24, "text"),
    ("account.email in [account.email]", 19, "a text in quotes"),
    ("account.roles == ['a']", 1, "in instead of =="),
    ("request.ip == '192.0.2.7'", 1, "in_network instead of =="),
    ("account.email in_network '192.0.2.0/24'", 1, "request.ip"),
    ("request.ip in_network 'office'", 23, "a network such as"),
    ("request.ip in_network '192.0.2.1/24'", 23, "a network such as"),
    ("request.ip in_network account.email", 23, "a network in quotes"),
    ("account.has_passkey and account.email", 25, "a comparison"),
    ("account.email or true", 1, "a comparison"),
    ("not account.email", 5, "a comparison"),
    ("true == true == true", 14, "and, or, or the end"),
    ("true not true", 6, "an operator"),
    ("(true", 6, "')'"),
    ("true)", 5, "and, or, or the end"),
    ("['a'", 5, "']'"),
    ("account.email == 'a", 18, "a name, a value or an operator"),
    ("account.email = 'a'", 15, "a name, a value or an operator"),
    ("account.created_days_ago < 7days", 28, "a name, a value or an operator"),
    ("account.created_days_ago < 1e9", 28, "a name, a value or an operator"),
    ("__import__('os')", 1, "the name of a fact"),
    ("account.email == 'a'; true", 21, "a name, a value or an operator"),
    ("True", 1, "the name of a fact"),
    ("true && true", 6, "a name, a value or an operator"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "position", "expected"), MALFORMED)
def test_refusal_names_place_and_expectation(text: str, position: int, expected: str) -> None:
    with pytest.raises(MalformedCondition) as refused:
        conditions.parse(text)
    assert (refused.value.position, expected in refused.value.expected) == (position, True), refused.value


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1_000 + "true" + ")" * 900,
        "not " * 400 + "true",
        "true " * 300,
        "true" + " and true" * 150,
        "account.email == '" + "x" * 2_000 + "'",
        " " * 2_001 + "true",
        f"request.hour_utc in [{','.join('1' * 120)}]",
        "9" * 1_999,
    ],
)
def test_hostile_condition_is_refused(text: str) -> None:
    with pytest.raises(MalformedCondition):
        conditions.parse(text)


def test_condition_at_the_bounds_is_accepted() -> None:
    assert conditions.parse("(" * MAX_DEPTH + "true" + ")" * MAX_DEPTH).is_true({})
    assert conditions.parse("true" + " and true" * 99).is_true({})


def test_condition_names_the_facts_it_reads() -> None:
    condition = conditions.parse(
        "not (account.has_passkey or request.ip in_network '10.0.0.0/8') and 'a' in account.roles"
    )
    assert [*condition.names()] == ["account.has_passkey", "request.ip", "account.roles"]


TEXTS_OF = {
    TEXT: "{0} == 'a' or {0} in ['a', 'b'] or {0} not in ['c']",
    NUMBER: "{0} < 3 or {0} >= 1.5 or {0} in [1, 2.5] or {0} != 7",
    FLAG: "{0} and not {0} or {0} == true",
    TEXTS: "'a' in {0} or 'b' not in {0}",
    ADDRESS: "{0} in_network '10.0.0.0/8' or {0} in_network ['::/0']",
}
WORDS = [
    *FACTS, "==", "!=", "<", ">=", "in", "not in", "in_network", "and", "or", "not", "(", ")", "[", "]", ",", "true", "false", "1",
    "-2.5", "'a'", '"10.0.0.0/8"', "['a']", "[1]", "account.created_days_ago < 7", "'a' in account.roles",
]  # fmt: skip
FACT_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.ip_addresses().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
ANY_FACTS = st.dictionaries(st.sampled_from([*FACTS]), FACT_VALUES)


@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join), ANY_FACTS)
@example("not not true", {})
def test_parsed_condition_evaluates_on_any_facts(text: str, facts: dict[str, Any]) -> None:
    try:
        condition = conditions.parse(text)
    except MalformedCondition:
        return
    assert condition.is_true(facts) in (True, False)


@given(st.sampled_from([*FACTS]), FACT_VALUES)
def test_every_operator_evaluates_on_any_value(name: str, value: object) -> None:
    condition = conditions.parse(TEXTS_OF[FACTS[name].type].format(name))
    assert condition.is_true({name: value}) in (True, False)


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused_with_a_place(text: str) -> None:
    position = 1
    try:
        conditions.parse(text)
    except MalformedCondition as refused:
        position = refused.position
    assert 1 <= position <= len(text) + 1
