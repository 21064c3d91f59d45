"""The operation that returns the service's clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.contract.tenants import tenant_operations
from app.identity.platform.context import Context


@tenant_operations.serverinfo.implements
def read_serverinfo(context: Context, req: tenant_operations.ReadServerinfo) -> tenant_operations.Serverinfo:
    minutes = req.time_difference
    period = tenant_operations.SottPeriod(
        start_time=_stamp(context.now),
        end_time=_stamp(context.now + timedelta(minutes=minutes)),
        time_difference=f"{minutes} Minutes",
    )
    return tenant_operations.Serverinfo(
        server_location="",
        server_name=context.services.settings.api_hostname,
        current_time=_stamp(context.now),
        sott=period,
    )


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
