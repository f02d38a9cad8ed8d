"""Names say what a thing is, in the words of docs/glossary.md."""

import ast
import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Final

BANNED_CLASSES: Final = re.compile(r"(Manager|Service|Helper|Utils?|Impl)(?=[A-Z0-9_]|$)")
BANNED_MODULES: Final = {
    "common",
    "helper",
    "helpers",
    "manager",
    "misc",
    "service",
    "services",
} | {
    "util",
    "utils",
}
UNFINISHED: Final = re.compile(r"\b(TODO|FIXME|XXX)\b")
BANNER: Final = re.compile(r"^\s*#\s*[-=#*~]{4,}", re.MULTILINE)


def banned_classes(sources):
    """Each class whose name says nothing of what it does."""
    return [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and BANNED_CLASSES.search(node.name)
    ]


def shared_classes(sources):
    """Each public class name that stands for several things, with the files that define it."""
    found = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(source.path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def banned_modules(sources):
    """Each file or folder that would collect what has no place."""
    return [
        source.path
        for source in sources
        if BANNED_MODULES & set(PurePosixPath(source.path).with_suffix("").parts)
    ]


def marked(sources, pattern):
    """Each file in which `pattern` occurs."""
    return [source.path for source in sources if pattern.search(source.text)]


def test_no_class_has_an_empty_name(written, tested):
    assert banned_classes([*written, *tested]) == []


def test_a_public_class_name_means_one_thing(written):
    """In the gateway; programs under scripts/ have their own names."""
    assert shared_classes([each for each in written if each.path.startswith("gateway/")]) == {}


def test_no_module_is_a_drawer(written):
    assert banned_modules(written) == []


def test_nothing_is_left_unfinished(written):
    assert marked(written, UNFINISHED) == []


def test_no_comment_is_a_banner(written, tested):
    assert marked([*written, *tested], BANNER) == []


def test_each_of_these_mistakes_is_found(planted):
    assert banned_classes(planted("class KeyManager: ...\n"))
    assert banned_classes(planted("class Utilisation: ...\n")) == []
    one, other = planted("class Page: ...\n", path="gateway/a.py"), planted("class Page: ...\n")
    assert shared_classes([*one, *other]).keys() == {"Page"}
    assert banned_modules(planted("", path="gateway/utils/keys.py"))
    assert marked(planted("# TO" + "DO: later\n"), UNFINISHED)
    assert marked(planted("# " + "-" * 20 + "\n"), BANNER)
