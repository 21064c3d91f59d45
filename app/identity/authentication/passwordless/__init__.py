"""Sign-in without a password: by a link or a code from a mail, by a text message, by a yes on another device; and one-touch."""
