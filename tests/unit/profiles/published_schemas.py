"""Schemas that clients cannot say, with what each of them is about."""

from typing import Any, Final

from gateway.profiles.clients import PROFILES

SHOWN: Final = tuple(each for each in PROFILES.values() if not each.is_source)
TREE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}
SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "recursive": TREE,
    "tuples of two lengths": {
        "type": "object",
        "properties": {
            "a": {
                "allOf": [
                    {"prefixItems": [{}]},
                    {"prefixItems": [{}, {"type": "string"}], "items": False},
                ]
            }
        },
    },
    "root union": {
        "oneOf": [
            {
                "type": "object",
                "properties": {"id": {"type": "string"}, "as": {"const": "id"}},
                "required": ["id", "as"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "as": {"const": "name"}},
                "required": ["name", "as"],
                "additionalProperties": False,
            },
        ]
    },
    "open root union": {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "anyOf": [{"properties": {"b": {"type": "integer"}}}, {"required": ["a"]}],
    },
    "root intersection": {
        "allOf": [
            {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}},
            {"properties": {"n": {"maximum": 9}}, "required": ["n"]},
        ],
        "description": "Both.",
    },
    "numbers": {
        "type": "object",
        "properties": {
            "whole": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
            "real": {"type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1.5},
            "chosen": {"enum": [1, 2, 3]},
            "fixed": {"const": 7},
        },
    },
    "mixed values": {
        "type": "object",
        "properties": {
            "mixed": {"enum": ["a", 1, None, True, {"x": 1}, [2], ""]},
            "maybe": {"type": ["string", "null"], "minLength": 2, "format": "uri"},
            "nothing": {"const": None},
            "flag": {"enum": [True, False]},
        },
    },
    "arrays": {
        "type": "object",
        "properties": {
            "bare": {"type": "array"},
            "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "pair": {
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "type": "array",
                "items": False,
            },
            "open": {"prefixItems": [{"type": "string"}], "type": "array"},
            "tail": {"prefixItems": [{"type": "string"}], "items": {"type": "boolean"}},
            "empty": {"type": "array", "items": False},
            "any": {"type": "array", "items": True},
        },
    },
    "maps": {
        "type": "object",
        "properties": {
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "named": {
                "type": "object",
                "propertyNames": {"pattern": "^x"},
                "patternProperties": {"^x": {"type": "integer"}},
            },
            "free": {"type": "object", "required": ["id"]},
            "never": False,
            "always": True,
        },
    },
    "one of overlapping": {
        "type": "object",
        "properties": {
            "either": {"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
            "also": {
                "anyOf": [{"type": "string"}, {"type": "integer"}],
                "oneOf": [{"minLength": 1}, {"maximum": 3}],
            },
        },
        "$defs": {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}, "required": ["b"]},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]},
        },
    },
    "negations": {
        "type": "object",
        "properties": {
            "not": {"not": {"$ref": "#/$defs/Loop"}},
            "if": {
                "if": {"$ref": "#/$defs/Loop"},
                "then": {"type": "object", "minProperties": 1},
                "else": {"type": "string"},
            },
            "counted": {"type": "array", "contains": {"$ref": "#/$defs/Loop"}, "maxContains": 1},
        },
        "$defs": {
            "Loop": {
                "type": "object",
                "properties": {"of": {"$ref": "#/$defs/Loop"}},
                "required": ["of"],
            }
        },
    },
    "unevaluated": {
        "type": "object",
        "properties": {
            "x": {
                "allOf": [{"$ref": "#/$defs/Base"}],
                "properties": {"own": {"type": "string"}},
                "unevaluatedProperties": False,
            },
            "y": {"properties": {"own": {"type": "string"}}, "unevaluatedProperties": False},
        },
        "$defs": {"Base": {"type": "object", "properties": {"base": {"type": "integer"}}}},
    },
    "siblings": {
        "type": "object",
        "properties": {
            "short": {"$ref": "#/$defs/Text", "maxLength": 3, "description": "Short."},
            "other": {"$ref": "#/$defs/Text", "description": "Other."},
            "dangling": {"$ref": "#/$defs/Gone"},
            "outside": {"$ref": "https://example.com/x"},
        },
        "$defs": {"Text": {"type": "string", "maxLength": 5, "description": "Text."}},
    },
    "names of keywords": {
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "properties": {"type": "object", "properties": {"items": {"type": "array"}}},
            "enum": {"type": "array", "items": {"const": 1}},
        },
        "required": ["$ref"],
    },
    "no object": {"type": ["string", "object"], "enum": ["a", {"b": 1}]},
    "anything": {},
}
