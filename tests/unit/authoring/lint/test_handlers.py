"""The functions that bindings name are looked up in files, without importing any."""

from pathlib import Path

import pytest

from gateway.authoring.lint.bindings import Fault, Handlers

MARK = "from gateway.contract.connector import mapping_function, tool_handler\n"
FORMS = {
    "a marked function": "@tool_handler\ndef run(): ...",
    "a marked async function": "@tool_handler\nasync def run(): ...",
    "a function with two marks": "@mapping_function\n@tool_handler\ndef run(): ...",
    "a mark above another decorator": "@tool_handler\n@cache\ndef run(): ...",
    "a renamed mark": MARK.replace("tool_handler", "tool_handler as h") + "@h\ndef run(): ...",
}
LOST = {
    "a function inside another": "def walk():\n    def run(): ...",
    "a method": "class Walk:\n    def run(self): ...",
    "a name that is only read": "print(run)",
    "a file that is no Python": "def run(:",
    "an empty file": "",
    "what a star may bring": "from elsewhere import *",
}
ELSEWHERE = {
    "an imported name": "from elsewhere import run",
    "a renamed import": "from elsewhere import walk as run",
    "an assigned name": "run = make()",
    "an annotated name": "run: Handler = make()",
    "one of several assigned names": "walk, run = make()",
    "a class": "@tool_handler\nclass run: ...",
    "a function under a condition": "if FAST:\n    @tool_handler\n    def run(): ...",
    "a function in a try": "try:\n    import fast\nexcept E:\n @tool_handler\n def run(): ...",
    "a function that is written twice": "@tool_handler\ndef run(): ...\ndef run(): ...",
    "a function whose name is given away": "@tool_handler\ndef run(): ...\nrun = make()",
}
UNMARKED = {
    "no mark": "def run(): ...",
    "the mark of another use": "@mapping_function\ndef run(): ...",
    "a mark below another decorator": "@cache\n@tool_handler\ndef run(): ...",
    "a decorator of the same name": "@marks.tool_handler\ndef run(): ...",
    "a mark that is called": "@tool_handler()\ndef run(): ...",
}


def lost(tmp_path: Path, reference: str) -> list[Fault]:
    handlers = Handlers(tmp_path / "schemas", ["shop"])
    return list(handlers.of_binding({"python": reference}))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_marked_function_is_let_be(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(MARK + text)
    assert lost(tmp_path, "shop:run") == []


@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_what_a_module_does_not_offer_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(text)
    [(pointer, rule, message, _)] = lost(tmp_path, "shop:run")
    assert (pointer, rule) == ("/python", "unknown-handler")
    assert message == "shop has no function run"


@pytest.mark.parametrize("text", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_a_module_does_not_define_plainly_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(MARK + text)
    [(pointer, rule, message, _)] = lost(tmp_path, "shop:run")
    assert (pointer, rule) == ("/python", "unknown-handler")
    assert message == "shop does not define run itself, once, and at its top level"


@pytest.mark.parametrize("text", UNMARKED.values(), ids=UNMARKED)
def test_a_function_without_its_mark_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.py").write_text(MARK + text)
    [(pointer, rule, message, _)] = lost(tmp_path, "shop:run")
    assert (pointer, rule) == ("/python", "unmarked-handler")
    assert message == "shop:run does not carry the mark tool_handler"


def test_the_mark_of_somebody_else_is_none(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from elsewhere import tool_handler\n@tool_handler\ndef run(): ..."
    )
    assert [rule for _, rule, _, _ in lost(tmp_path, "shop:run")] == ["unmarked-handler"]


@pytest.mark.parametrize("module", ["shopping", "os", "shop_too.till", "other.shop"])
def test_a_module_outside_the_packages_is_not_even_looked_for(tmp_path: Path, module: str) -> None:
    [(_, rule, message, _)] = lost(tmp_path, f"{module}:run")
    assert rule == "foreign-handler"
    assert message == f"{module} lies outside the connector packages (shop)"


def test_the_nearest_function_is_offered(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def greet(): ...\ndef refuse(): ...")
    assert lost(tmp_path, "shop:great")[0][3] == "Did you mean greet?"


def test_the_file_of_a_package_counts_and_its_code_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "shop" / "till").mkdir(parents=True)
    (tmp_path / "shop" / "till" / "__init__.py").write_text(
        MARK + "raise SystemExit\n@tool_handler\ndef run(): ..."
    )
    assert lost(tmp_path, "shop.till:run") == []


def test_a_module_that_is_installed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "shop.py").write_text(MARK + "@tool_handler\ndef run(): ...")
    [(_, rule, message, _)] = lost(tmp_path, "shop:run")
    assert (rule, message) == ("unknown-handler", "there is no module shop")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert lost(tmp_path, "shop:run") == []


CALLABLE = {
    "one argument": ("async def run(arguments): ...", 1),
    "one argument by position only": ("async def run(arguments, /): ...", 1),
    "an argument that may be left out": ("async def run(arguments, limit=3): ...", 1),
    "as many arguments as there are": ("async def run(*given): ...", 2),
    "a name that may be left out": ("async def run(arguments, *, limit=3): ...", 1),
    "both": ("async def run(arguments, context): ...", 2),
    "one of two ways": (
        "if FAST:\n    async def run(arguments): ...\nelse:\n    def run(): ...",
        1,
    ),
    "what a decorator makes of it": ("@tool_handler\n@made\ndef run(): ...", 1),
    "what comes from elsewhere": ("from elsewhere import run", 2),
    "an assigned name": ("run = make()", 2),
}
NOT_CALLABLE = {
    "no argument": ("async def run(): ...", 1),
    "an argument too many": ("async def run(arguments, context): ...", 1),
    "an argument too few": ("async def run(arguments): ...", 2),
    "a name that is needed": ("async def run(arguments, *, limit): ...", 1),
    "not an async function": ("def run(arguments): ...", 1),
    "an async function inside another": (
        "def run(arguments):\n    async def run(arguments): ...",
        1,
    ),
}


def misfits(tmp_path: Path, text: str, given: int) -> list[tuple[str, str]]:
    (tmp_path / "shop.py").write_text(text)
    binding = {"python": "shop:run", **({"upstreams": ["till"]} if given == 2 else {})}
    return list(Handlers(tmp_path / "schemas", ["shop"]).signature_faults(binding))


@pytest.mark.parametrize(("text", "given"), CALLABLE.values(), ids=CALLABLE)
def test_a_handler_that_can_be_called_is_let_be(tmp_path: Path, text: str, given: int) -> None:
    assert misfits(tmp_path, text, given) == []


@pytest.mark.parametrize(("text", "given"), NOT_CALLABLE.values(), ids=NOT_CALLABLE)
def test_a_handler_that_cannot_be_called_is_reported(tmp_path: Path, text: str, given: int) -> None:
    what = "the arguments and the context" if given == 2 else "the arguments"
    assert misfits(tmp_path, text, given) == [
        ("/python", f"run is not an async function of {what}")
    ]


def test_functions_of_field_maps_are_called_in_other_ways(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def price(amount, currency): ...")
    value = {"python": "shop:price", "with": ["$inputs.a", "$inputs.b"]}
    binding = {"upstream": "u", "operationId": "o", "response": {"200": {"a": value}}}
    assert list(Handlers(tmp_path / "schemas", ["shop"]).signature_faults(binding)) == []
