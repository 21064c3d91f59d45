"""Changes of memberships: departures, changes by managers, and transfers of ownership."""
