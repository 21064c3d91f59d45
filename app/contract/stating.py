"""The catalogue under its former name."""

from app.contract.operations import CATALOGUE

__all__ = ["CATALOGUE"]
