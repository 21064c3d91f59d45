"""Each hostile response is a good one with one change, and is refused by the rule for that change."""

from __future__ import annotations

import pytest

from app.identity.platform.outbound.findings import MAX_LENGTH
from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_rules import SamlRefusal
from tests.support.saml import signers
from tests.support.saml.all_cases import RESPONSE_CASES
from tests.support.saml.cases import Case


@pytest.mark.parametrize("case", RESPONSE_CASES, ids=str)
def test_hostile_response_is_refused_by_its_rule(case: Case) -> None:
    with pytest.raises(SamlRefusal) as refused:
        read_response(case.content(), case.expected(), signers.NOW)
    refusal = refused.value
    assert refusal.rule is case.rule, str(refusal)
    texts = (str(refusal), refusal.expected, refusal.received)
    assert max(map(len, texts)) <= MAX_LENGTH
    assert "ada@example.test" not in " ".join(texts)


def test_every_case_has_an_own_name() -> None:
    assert len({str(case) for case in RESPONSE_CASES}) == len(RESPONSE_CASES)
