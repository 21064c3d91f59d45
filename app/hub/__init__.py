"""Wing one: the pages people see. Owns no data; reaches the identity service through `door` alone."""
