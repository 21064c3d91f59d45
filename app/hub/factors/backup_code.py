"""The codes on paper."""

from typing import Final

from flask_babel import lazy_gettext as _l

from app.contract.hub_second_factors import FactorShown
from app.contract.second_factors.challenge import FactorKind
from app.hub.factors.face import CodeForm, Face


class BackupCodeForm(CodeForm):
    """One of the codes on paper."""

    wrong = _l("That code did not work. Each works once: try another one of your list.")


FACE: Final = Face(
    kind=FactorKind.BACKUP_CODE,
    name=_l("Backup code"),
    hint=_l("One of the codes that you wrote down"),
    icon="note",
    form=BackupCodeForm,
    samples={"enrolled": FactorShown(kind=FactorKind.BACKUP_CODE, is_enrolled=True)},
)
