"""Every kind of provider with everything that can go wrong at it."""
