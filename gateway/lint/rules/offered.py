"""The rules of resources and prompts."""

from typing import Final

from gateway.contract.offered.resource import LARGEST
from gateway.lint.rules.rule import Rule

OFFERED: Final = (
    Rule(
        "resource/uri",
        "A URI is absolute (RFC 3986) and has no placeholders, and its scheme is not `gateway`. A"
        " URI template is of level 1 (RFC 6570), and each of its URIs has one reading.",
        "Write a URI such as `charter://terms`, or a template such as `charter://rfps/{rfp_id}`.",
    ),
    Rule(
        "resource/duplicate",
        "No URI is that of two resources, whatever values the variables of templates have.",
        "Change one of them.",
    ),
    Rule(
        "resource/variable",
        "The variables of a template are described, and a tool gets each of them.",
        "Describe the variable under `variables`, or remove it.",
    ),
    Rule(
        "resource/tool",
        "A resource comes from a tool that exists, has the effect read without an escalation,"
        " needs nothing of clients, makes no jobs, and answers with a JSON object. The media type"
        " is one of JSON.",
        "Name another tool, correct `mimeType`, or write a Python function.",
    ),
    Rule(
        "resource/argument",
        "A resource gives its tool the arguments that it requires and no unknown ones. Variables"
        " are for texts, numbers and booleans.",
        "Correct `arguments`.",
    ),
    Rule(
        "resource/handler",
        "Only resources with `uriTemplate` have variables, and files are not templates.",
        "Write `uri`, or take the contents from a tool or a function.",
    ),
    Rule(
        "resource/file",
        f"A file that is sent exists, has at most {LARGEST // 1024} KiB, and if its media type is a"
        " text, is UTF-8 without invisible characters. Each file is sent by a contract beside it.",
        "Correct the name or the file.",
    ),
    Rule(
        "prompt/placeholder",
        "Each placeholder is an argument or the id of a tool, and each argument has one.",
        "Declare the argument, correct the placeholder, or remove the argument.",
    ),
    Rule(
        "prompt/value",
        "The default of an argument is one of its values, and required arguments have none. Neither"
        " the default nor a value is longer than `maxLength`.",
        "Correct the value or `maxLength`, or remove it.",
    ),
    Rule(
        "offered/name",
        "A resource or prompt belongs to a connector that has tools, and its name on `/mcp` is"
        " unique among its kind.",
        "Put the file into the folder of a connector, or rename it.",
    ),
)
