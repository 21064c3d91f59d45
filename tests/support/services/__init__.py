"""PostgreSQL, Redis, proxies, and the identity service over them."""
