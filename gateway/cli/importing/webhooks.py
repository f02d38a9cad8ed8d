"""`gateway import --webhook`: drafts the contract of what the vendor sends."""

from gateway.cli.importing.eject import project_of
from gateway.cli.output import progress
from gateway.cli.project import check_index
from gateway.contracts.sources.tree import read_tree
from gateway.openapi.folder.given import GivenDocument
from gateway.openapi.folder.importing import ImportRun
from gateway.openapi.folder.reading import ImportFolder, inbound_messages
from gateway.project.inbound.drafting import InboundDraft, InboundWish, draft_inbound
from gateway.settings import Settings


def drafted_webhooks(
    settings: Settings,
    folder: ImportFolder,
    given: GivenDocument,
    run: ImportRun,
    names: tuple[str, ...],
) -> InboundDraft:
    """The draft of the webhooks and callbacks of `given` with these names. Nothing is written.

    Raises `ConfigurationError` without a project, or if the name of the provider is taken, and
    `ContractRefused`.
    """
    check_index(settings)
    with progress("import") as step:
        step("reading the webhooks")
        messages = inbound_messages(folder, given.source, run.wishes)
        step("drafting the webhooks")
        tree = read_tree(settings.schemas)
        wish = InboundWish(provider=folder.connector, names=names)
        return draft_inbound(project_of(settings), tree, wish, messages)
