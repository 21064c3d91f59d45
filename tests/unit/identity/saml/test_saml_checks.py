"""Each rule of the gate tells an operator what it means and what to change."""

from __future__ import annotations

from app.identity.platform.saml.saml_checks import SAML_DIAGNOSES, SamlCheck
from app.identity.platform.saml.saml_rules import SamlRule


def test_every_rule_has_a_diagnosis() -> None:
    assert {check.value for check in SamlCheck} == {f"saml_{rule.value}" for rule in SamlRule}
    assert set(SAML_DIAGNOSES) == set(SamlCheck)
    assert all(len(check.value) <= 32 for check in SamlCheck)  # the column's length
