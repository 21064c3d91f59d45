"""Backup codes."""

from typing import Final

from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.forms.code_field import CodeField
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n


class BackupCodeForm(FactorForm):
    """A backup code, which has letters and digits."""

    backup_code = CodeField(_l("Backup code"), [InputRequired(_l("Enter the code."))])
    error_field = "backup_code"
    wrong = _l("Wrong or used code.")
    wrong_errors = (errors.WrongBackupCode, errors.NoBackupCodes)

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        typed = (self.backup_code.data or "")[:64]
        return FactorAnswer(
            interaction_id=interaction_id, kind=FactorKind.BACKUP_CODE, code=typed, trust=bool(self.trust.data)
        )


PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.BACKUP_CODE,
    name=_l("Backup code"),
    hint=_l("One of your saved codes"),
    icon="list",
    form=BackupCodeForm,
    own_hint=lambda count: _n("%(num)d left", "%(num)d left", int(count)),
    samples={
        "enrolled": FactorPrompt(kind=FactorKind.BACKUP_CODE, is_enrolled=True, left=8),
        "few left": FactorPrompt(kind=FactorKind.BACKUP_CODE, is_enrolled=True, left=2),
        "last": FactorPrompt(kind=FactorKind.BACKUP_CODE, is_enrolled=True, left=1),
    },
)
