"""Which of the tenants that a hub has cached changed: one call for all of them, by the hub on its own behalf."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from app.contract.operations import hub_operation
from app.kit.wire import Wire

MAX_HOSTS: Final = 2_000
"""As many of the longest hosts and versions stay below the limit of a body."""

HeldHost = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.-]{1,254}(:[0-9]{1,5})?$")]
HeldVersion = Annotated[str, StringConstraints(max_length=100)]


class HeldTenants(Wire):
    """The version of each cached tenant by its host, in lower case and with its port."""

    versions: dict[HeldHost, HeldVersion] = Field(max_length=MAX_HOSTS)


class ChangedTenants(Wire):
    """The present version at each host where it is another one; empty where no tenant is any more."""

    versions: dict[str, str]


changed_tenants = hub_operation(
    "hub.changed_tenants", "POST /hub/tenants/changed", HeldTenants, ChangedTenants,
    summary="Read which of the hub’s cached tenants changed.", spans_tenants=True,
)  # fmt: skip
