"""Checks every answer that a boto3 client parses against botocore's own service models.

botocore reads what it knows and ignores the rest, so a misspelt or missing member would pass unseen: here each answer
must hold the required members, members of the right type and no unknown enum value, and the raw JSON no member that the
model does not have.
"""

import datetime
import json

TYPES = {"string": str, "integer": int, "long": int, "boolean": bool, "timestamp": datetime.datetime}


def check_shape(shape, value, path, faults):
    kind = shape.type_name
    if kind == "structure":
        if not isinstance(value, dict):
            faults.append(f"{path}: not a structure")
            return
        for name in shape.required_members:
            if name not in value:
                faults.append(f"{path}.{name}: required and missing")
        for name, member in value.items():
            if name in shape.members:
                check_shape(shape.members[name], member, f"{path}.{name}", faults)
            elif name != "ResponseMetadata":
                faults.append(f"{path}.{name}: not in the model")
    elif kind == "list":
        for i, item in enumerate(value):
            check_shape(shape.member, item, f"{path}[{i}]", faults)
    elif kind == "map":
        for key, item in value.items():
            check_shape(shape.value, item, f"{path}[{key!r}]", faults)
    elif kind in ("float", "double"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            faults.append(f"{path}: {value!r} is not a number")
    elif kind in TYPES:
        if not isinstance(value, TYPES[kind]) or (kind in ("integer", "long") and isinstance(value, bool)):
            faults.append(f"{path}: {value!r} is not a {kind}")
        elif kind == "string" and getattr(shape, "enum", None) and value not in shape.enum:
            faults.append(f"{path}: {value!r} is not one of {shape.enum}")


def unknown_members(shape, raw, path, faults):
    """The raw JSON against the model: what the parser would drop silently."""
    if shape is None or raw is None:
        return
    if shape.type_name == "structure" and isinstance(raw, dict):
        for name, member in raw.items():
            if name not in shape.members:
                faults.append(f"{path}.{name}: sent, but not in the model")
            else:
                unknown_members(shape.members[name], member, f"{path}.{name}", faults)
    elif shape.type_name == "list" and isinstance(raw, list):
        for item in raw:
            unknown_members(shape.member, item, f"{path}[]", faults)


def install(client):
    """Raises AssertionError from the call itself when its answer does not fit."""

    def after_call(http_response, parsed, model, **_kwargs):
        if http_response.status_code >= 300:
            error = parsed.get("Error", {})
            assert error.get("Code") and error.get("Message"), f"{model.name}: an error without code or message: {parsed}"
            return
        if model.output_shape is None:
            return
        faults = []
        check_shape(model.output_shape, {k: v for k, v in parsed.items() if not hasattr(v, "read") and k != "Body"},
                    model.name, faults)
        if "json" in http_response.headers.get("Content-Type", "") and not model.has_streaming_output:
            unknown_members(model.output_shape, json.loads(http_response.content or b"{}"), model.name, faults)
        faults = [f for f in faults if not f.startswith(f"{model.name}.Body:")]
        assert not faults, "\n".join(faults)

    client.meta.events.register("after-call.*.*", after_call)
