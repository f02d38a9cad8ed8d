"""What an author says in `import.yaml` about the operations that are served."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from gateway.contract.imported import ResultCheck
from gateway.contract.operation import Effect

HeaderChoice = bool | tuple[str, ...]
"""All declared headers (`true`), none, or those with these names."""
HeaderWishes = HeaderChoice | Mapping[str, HeaderChoice]
"""One choice for all operations, or one for each, by operationId or `GET /path`."""


NameCuts = Literal["digests", "words"]
"""How names that are too long are cut: `words` leaves words out, `digests` keeps the beginning."""


class OperationSelection(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The operations that are served: those that match every part that is given.

    All parts are globs (`*`, `?`, `[…]`) and match upper and lower case exactly, except `methods`.
    """

    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    """Match operationIds, or a method and a path: `GET /pets/*`."""
    exclude: tuple[str, ...] = ()
    """Match as `operations`. These operations are not served."""


class ImportFile(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The content of `import.yaml`."""

    document: str
    """The name of the vendor's document beside the file."""
    sha256: str
    """Digest of the vendor's bytes."""
    entry: str | None = None
    """Of a folder with several documents: the path of the imported one in it."""
    source: str = ""
    """Where the document came from: a URL or a file name. Nothing is fetched from it."""
    title: str | None = None
    base_url: str | None = None
    select: OperationSelection = OperationSelection()
    names: Mapping[str, str] = {}
    """Names of tools, by operationId or `GET /path`."""
    long_names: NameCuts = "digests"
    """New imports have `words`. Without it, an import keeps the names that it had before."""
    effects: Mapping[str, Effect] = {}
    """Effects that differ from those of the method, by operationId or `GET /path`."""
    results: ResultCheck = "enforce"
    tool_results: Mapping[str, ResultCheck] = {}
    """In place of `results`, by operationId, `GET /path`, or a pattern of them."""
    result_formats: Literal["annotate", "enforce"] = "annotate"
    """Whether a reply may have another text than its `format` says. Arguments may never."""
    headers: HeaderWishes = False
    """The declared response headers that results have."""
    limits: Mapping[str, Any] | None = None
    """The limits of each tool, in the form of `x-policy.limits`."""
    tool_limits: Mapping[str, Mapping[str, Any]] = {}
    """Limits in place of `limits`, by operationId, `GET /path`, or a pattern of them."""
    policy: Mapping[str, Any] = {}
    """Members of `x-policy` that all tools have: `timeoutSeconds`, `task`, `attempts`."""
    tool_policies: Mapping[str, Mapping[str, Any]] = {}
    """Members in place of those of `policy`, by operationId, `GET /path`, or a pattern of them."""
