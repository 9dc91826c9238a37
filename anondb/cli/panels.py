"""Help in panels."""

from typing import Any

from typer.core import TyperCommand

from anondb.models import ALGORITHM, DATA, GENERAL, OUTPUT, PROMISE, READ


class PanelCommand(TyperCommand):
    """A command whose help shows its options in panels, and its examples without wrapping."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, each panel under its name."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if is_argument else GENERAL)
                panels.setdefault(panel, []).append(record)
        order = ("Arguments", DATA, READ, PROMISE, ALGORITHM, OUTPUT, GENERAL)
        for panel in sorted(panels, key=lambda p: order.index(p) if p in order else len(order)):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples without wrapping them."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(self.epilog + "\n")
