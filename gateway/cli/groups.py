"""Groups of commands whose help shows the complete first sentence of each command."""

import click


class WholeGroup(click.Group):
    """A group that wraps the lines of its command list. click would truncate them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with the first sentence of its help."""
        names = self.list_commands(ctx)
        found = [(name, self.get_command(ctx, name)) for name in names]
        rows = [(name, _sentence(each)) for name, each in found if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _sentence(command: click.Command) -> str:
    # Longer than any help text, so that only the end of the sentence cuts it.
    return command.get_short_help_str(limit=10_000)
