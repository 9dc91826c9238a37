"""What ``--help`` shows: options in panels, and examples."""

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

from anondb.models import ALGORITHM, DATA, GENERAL, OUTPUT, PROMISE, READ

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("anondb demo", "anondb demo my-shop --json"),
    "peek": ("anondb peek purchases.csv", "anondb peek baskets.csv --layout basket --json"),
    "load": (
        "anondb load shop.duckdb --transactions sales.csv --as sales --id customer --item product",
        "anondb load shop.duckdb --transactions sales.csv --as sales --taxonomy food.csv --taxonomy-as food",
    ),
    "anonymize": (
        "anondb anonymize shop.duckdb --transactions sales --taxonomy food --k 5 --m 2 --release spring",
        "anondb anonymize clicks.dat --taxonomy pages.csv --model k --algorithm clump --option candidates=10",
    ),
    "verify": ("anondb verify spring.duckdb", "anondb verify shop.duckdb --transactions sales --k 5 --m 2 --witnesses 5"),
    "accuracy": (
        "anondb accuracy shop.duckdb --release spring",
        "anondb accuracy shop.duckdb --release spring --workload log.sql",
    ),
    "publish": (
        "anondb publish shop.duckdb --release spring --to spring.duckdb",
        "anondb publish shop.duckdb --release spring --to spring.duckdb --proof spring-proof",
    ),
    "run": ("anondb run shop.duckdb policy.sql", "echo 'SHOW ANONYMIZED VIEWS;' | anondb run shop.duckdb -"),
    "query": (
        "anondb query spring.duckdb \"SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'\"",
        "anondb query spring.duckdb \"SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread')\" --json",
        'anondb query spring.duckdb "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 5"',
        "anondb query spring.duckdb",
    ),
    "serve": (
        "anondb serve spring.duckdb",
        "anondb serve spring.duckdb --port 5440 --password-file password.txt --bounds none",
    ),
    "ui": ("anondb ui purchases.csv", "anondb ui spring.duckdb --no-browser --port 8600"),
    "explain": (
        "anondb explain shop.duckdb --release spring --item milk",
        "anondb explain shop.duckdb --release spring --item milk --json",
    ),
    "releases": ("anondb releases shop.duckdb", "anondb releases shop.duckdb --json"),
    "inspect": ("anondb inspect spring.duckdb", "anondb inspect spring.duckdb --json"),
    "attack": ("anondb attack shop.duckdb --release spring", "anondb attack shop.duckdb --release spring --known 2 --json"),
    "compare": (
        "anondb compare shop.duckdb --transactions sales --taxonomy food --k 2,5 --m 1,2",
        "anondb compare clicks.dat --taxonomy pages.csv --algorithms mhghs,apriori --report compare.html",
    ),
    "report": (
        "anondb report shop.duckdb --release spring --html spring-owner.html",
        "anondb report spring.duckdb --html spring.html",
    ),
    "profile": (
        "anondb profile shop.duckdb --transactions sales --taxonomy food",
        "anondb profile clicks.csv --id session --item page --k 10 --html profile.html",
    ),
    "advise": (
        "anondb advise shop.duckdb --transactions sales --taxonomy food",
        "anondb advise clicks.csv --id session --item page --m 3 --k 10 --no-item-supports --time-limit 600",
        "anondb advise clinic.duckdb --transactions visits --records people --quasi-identifiers age,town --time-limit 600",
    ),
    "algorithms": ("anondb algorithms", "anondb algorithms clump"),
}


def epilog(command: str) -> str:
    """The examples of a command, one per line."""
    return "Examples:\n" + "\n".join(f"  {line}" for line in EXAMPLES[command])


class PanelCommand(TyperCommand):
    """A command whose help shows its options in panels, and its examples without wrapping."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, each panel under its name."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
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
