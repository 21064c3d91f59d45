"""The operations table is covered: every operation has a response case, and every error code is raised or has a reason.

The table is transcribed in tests/support/operation_cases/expected_operations.py; the cases are in the modules that `FILES` names.
"""

from __future__ import annotations

from collections import Counter

from tests.api.accounts import test_custom_object_operations as custom_object_operations
from tests.api.accounts import test_role_operations as role_operations
from tests.api.consents import test_at_sign_in as consents_at_sign_in
from tests.api.consents import test_operations as consent_operations
from tests.api.federation import test_linking_operations as linking_operations
from tests.api.federation import test_profile_refresh
from tests.api.federation.native_sign_in import test_providers as native_sign_in_providers
from tests.api.passkeys import test_operations as passkey_operations
from tests.api.passwordless import test_operations as passwordless_operations
from tests.api.passwordless import test_smart_login_operations as smart_login_operations
from tests.api.reauthentication import test_pin_operations as pin_operations
from tests.api.reauthentication import test_step_up_operations as step_up_operations
from tests.api.recovery import test_operations as recovery_operations
from tests.api.recovery.test_named_errors import FORGOT, RESET
from tests.api.registration import test_operations as registration_operations
from tests.api.second_factors import test_account_operations as factor_account_operations
from tests.api.second_factors import test_login_operations as factor_login_operations
from tests.api.second_factors import test_push_and_duo_operations as push_and_duo_operations
from tests.api.self_service import test_account_operations as own_account_operations
from tests.api.self_service import test_profile_operations as profile_operations
from tests.api.sign_in import test_operations as sign_in_operations
from tests.api.verification import test_operations as verification_operations
from tests.support.operation_cases.cases import Answer, Refusal
from tests.support.operation_cases.expected_operations import LATER_ROWS, NOT_RAISED, ROWS

FILES = (
    registration_operations,
    verification_operations,
    sign_in_operations,
    linking_operations,
    profile_operations,
    own_account_operations,
    pin_operations,
    step_up_operations,
    recovery_operations,
    passwordless_operations,
    smart_login_operations,
    custom_object_operations,
    role_operations,
    push_and_duo_operations,
    factor_login_operations,
    factor_account_operations,
    consent_operations,
    consents_at_sign_in,
    passkey_operations,
    test_profile_refresh,
    native_sign_in_providers,
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
    variants = sum(len(list(answer.variants())) for answer in ANSWERS)
    why = Counter([*NOT_HERE.values(), *(NOT_RAISED[code] for _, code in unraised)])
    stored = f"{len(ROWS)} operations, {len(RAISED)} pairs raised, {variants} ways to ask"
    print(f"{stored}; {len(LATER_ROWS)} operations and {sum(why.values())} pairs not here:")
    for row, reason in LATER_ROWS.items():
        print(f"  {row}: {reason}")
    for reason, count in why.most_common():
        print(f"  {count} pairs: {reason}")


def test_no_refusal_case_is_listed_twice() -> None:
    twice = [pair for pair, count in Counter((refusal.row, refusal.code) for refusal in REFUSALS).items() if count > 1]
    assert twice == []
