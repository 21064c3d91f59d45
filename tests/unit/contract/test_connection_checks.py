"""Every check of a provider's answer has words for operators."""

from app.contract.federation.connection_checks import DIAGNOSES, ConnectionCheck


def test_every_check_has_a_diagnosis_of_its_own() -> None:
    assert list(DIAGNOSES) == list(ConnectionCheck)
    assert len({diagnosis.problem for diagnosis in DIAGNOSES.values()}) == len(ConnectionCheck)


def test_diagnoses_are_sentences() -> None:
    for diagnosis in DIAGNOSES.values():
        for text in (diagnosis.problem, diagnosis.advice):
            assert text.endswith(".")
            assert text.isprintable()
