"""The published JSON schema of scenarios."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import WithDefaultSchema

from airpath.scenario.model import ScenarioDocument


def scenario_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario, with a description, unit and default for every key."""
    return ScenarioDocument.model_json_schema(by_alias=True, schema_generator=_DefaultsAsWritten)


class _DefaultsAsWritten(GenerateJsonSchema):
    """Shows the default of a quantity as a scenario writes it ("100 ms"), not as it is kept (an integer)."""

    def get_default_value(self, schema: WithDefaultSchema) -> Any:
        default = super().get_default_value(schema)
        serialization: Any = schema["schema"].get("serialization")
        if default is not None and serialization is not None and serialization["type"] == "function-plain":
            return serialization["function"](default)
        return default
