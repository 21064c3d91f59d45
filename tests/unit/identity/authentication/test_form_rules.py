"""The rules for one value of a registration form."""

import pytest

from app.contract.registration.form import FormField
from app.identity.authentication.registration.form_rules import problem_of


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("integer", ["0", "-12", "+3"], ["1.0", "one", "٣x", " 1"]),
        ("decimal", ["1.5", "-0.25"], ["1", ".5", "1."]),
        ("numeric", ["1", "-1.5"], ["1e3", "1,5", "NaN"]),
        ("is_natural", ["0", "12"], ["-1", "1.0"]),
        ("is_natural_no_zero", ["1", "010"], ["0", "000"]),
        ("alphanumeric_combo", ["abc1", "é2"], ["a b", "a-b"]),
        ("valid_email", ["ada@example.test"], ["ada", "ada@", "a@b@c"]),
        ("valid_url", ["https://example.test/x"], ["example", "javascript:alert(1)"]),
        ("valid_ip", ["192.0.2.1", "2001:db8::1"], ["192.0.2.256", "192.0.2.0/24"]),
        ("valid_base64", ["YWRh", "YQ=="], ["YQ=", "a b="]),
        ("valid_phoneno", ["+4930123456"], ["12", "phone"]),
        ("valid_ca_zip", ["K1A 0B1", "k1a0b1"], ["D1A 0B1", "K1A-0B1", "12345"]),
        ("valid_credit_card", ["4111 1111 1111 1111", "5500-0000-0000-0004"], ["4111111111111112", "0", "4111"]),
        ("callback_valid_date", ["02-29-2024", "1/2/2020"], ["02-30-2024", "2024-02-29"]),
    ],
)
def test_rule_accepts_and_refuses(rule: str, good: list[str], bad: list[str]) -> None:
    field = FormField.model_validate({"name": "cf_Value", "rule": rule})
    assert [value for value in good if problem_of(field, value)] == []
    assert [value for value in bad if not problem_of(field, value)] == []


@pytest.mark.parametrize(
    ("value", "problem"), [("17", "above 17"), ("120", "below 120"), ("x", "a number"), ("18", "")]
)
def test_range_has_neither_of_its_bounds(value: str, problem: str) -> None:
    field = FormField(name="cf_Age", greater_than=17, less_than=120)
    assert problem in problem_of(field, value)
    assert bool(problem) == bool(problem_of(field, value))


@pytest.mark.parametrize(("value", "problem"), [("bonn", ""), ("Bonn", "none of the choices"), ("", "")])
def test_choice_accepts_its_values_alone(value: str, problem: str) -> None:
    field = FormField.model_validate(
        {"name": "city", "type": "option", "options": [{"value": "bonn"}, {"value": "köln"}]}
    )
    assert problem in problem_of(field, value)
    assert bool(problem) == bool(problem_of(field, value))
