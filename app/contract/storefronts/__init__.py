"""Sign-on at storefronts and booking systems."""
