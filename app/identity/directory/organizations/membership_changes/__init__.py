"""How memberships change and end: departures, changes by managers, and transfers of ownership."""
