"""The operations table is covered: every operation has a response case, and every error code is raised or has a reason.

The table is transcribed in tests/support/expected_operations.py; the cases are in the test_operations_* files beside this.
"""

from __future__ import annotations

from collections import Counter

from tests.api import (
    test_consent_at_sign_in,
    test_native_sign_in,
    test_operations_account,
    test_operations_consents,
    test_operations_custom_objects,
    test_operations_factor_login,
    test_operations_factor_settings,
    test_operations_linking,
    test_operations_login,
    test_operations_passkeys,
    test_operations_password,
    test_operations_passwordless,
    test_operations_pins,
    test_operations_profile,
    test_operations_push_and_duo,
    test_operations_registration,
    test_operations_roles,
    test_operations_smart_login,
    test_operations_step_up,
    test_operations_verification,
    test_profile_refresh,
)
from tests.api.test_passwords_named_errors import FORGOT, RESET
from tests.support.expected_operations import LATER_ROWS, NOT_RAISED, ROWS
from tests.support.rows import Answer, Refusal

FILES = (
    test_operations_registration,
    test_operations_verification,
    test_operations_login,
    test_operations_linking,
    test_operations_profile,
    test_operations_account,
    test_operations_pins,
    test_operations_step_up,
    test_operations_password,
    test_operations_passwordless,
    test_operations_smart_login,
    test_operations_custom_objects,
    test_operations_roles,
    test_operations_push_and_duo,
    test_operations_factor_login,
    test_operations_factor_settings,
    test_operations_consents,
    test_consent_at_sign_in,
    test_operations_passkeys,
    test_profile_refresh,
    test_native_sign_in,
)
REFUSALS: list[Refusal] = [refusal for file in FILES for refusal in file.REFUSALS]
ANSWERS: list[Answer] = [answer for file in FILES for answer in file.ANSWERS]
NOT_HERE = {pair: why for file in FILES for pair, why in file.NOT_HERE.items()}
OF_THE_SEED = {("U33", case[2]) for case in FORGOT} | {("U34", case[2]) for case in RESET}
RAISED = {(refusal.row, refusal.code) for refusal in REFUSALS} | {
    (row, code) for row, code in OF_THE_SEED if code in ROWS[row].codes
}


def test_every_operation_has_an_answer_case() -> None:
    assert {answer.row for answer in ANSWERS} == set(ROWS)


def test_every_error_code_is_raised_or_explained() -> None:
    stated = {(row, code) for row, item in ROWS.items() for code in item.codes}
    assert stated >= RAISED, "a test raises a code that the table does not list"
    assert set(NOT_HERE) <= stated - RAISED, "a reason is kept for a code that a test raises"
    unraised = stated - RAISED - set(NOT_HERE)
    assert {(row, code) for row, code in unraised if code not in NOT_RAISED} == set()
    ways = sum(len(list(answer.variants())) for answer in ANSWERS)
    why = Counter([*NOT_HERE.values(), *(NOT_RAISED[code] for _, code in unraised)])
    stored = f"{len(ROWS)} operations, {len(RAISED)} pairs raised, {ways} ways to ask"
    print(f"{stored}; {len(LATER_ROWS)} operations and {sum(why.values())} pairs not here:")
    for row, reason in LATER_ROWS.items():
        print(f"  {row}: {reason}")
    for reason, count in why.most_common():
        print(f"  {count} pairs: {reason}")


def test_no_refusal_case_is_listed_twice() -> None:
    twice = [pair for pair, count in Counter((refusal.row, refusal.code) for refusal in REFUSALS).items() if count > 1]
    assert twice == []
