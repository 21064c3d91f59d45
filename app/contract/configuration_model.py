"""The base class of every part of a configuration file."""

from pydantic import BaseModel, ConfigDict


class ConfigurationModel(BaseModel):
    """A part of a configuration file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)
