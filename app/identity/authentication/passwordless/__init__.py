"""Sign-in without a password: by a mailed link or code, by a text message, by approval on another device; and one-touch login."""
