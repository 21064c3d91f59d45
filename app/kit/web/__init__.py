"""HTTP in general: addresses, host names, proxies, forms, static files, user agents."""
