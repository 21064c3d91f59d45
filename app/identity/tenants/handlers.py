"""The operation that shows the service's clock, and those of the tenant's second factors."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.contract import tenants as contract
from app.identity.call import Call
from app.identity.tenants import factor_settings
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations; the configuration speaks of mails, so it is answered by letters."""
    server.implements(contract.serverinfo)(read_serverinfo)
    factor_settings.register(server)


def read_serverinfo(call: Call, req: contract.ServerinfoRead) -> contract.Serverinfo:
    minutes = req.time_difference
    period = contract.SottPeriod(
        start_time=_stamp(call.now),
        end_time=_stamp(call.now + timedelta(minutes=minutes)),
        time_difference=f"{minutes} Minutes",
    )
    return contract.Serverinfo(
        server_location="",
        server_name=call.house.settings.api_hostname,
        current_time=_stamp(call.now),
        sott=period,
    )


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
