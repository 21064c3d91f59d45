"""The forms of the hub: widgets, the request that a form becomes, and the refusals that it shows."""
