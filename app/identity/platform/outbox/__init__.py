"""The outbox: messages written with the change that causes them, claimed and delivered by workers."""
