"""What ``--help`` shows: options in panels, and examples."""

import re
from typing import Any

from typer.core import TyperCommand

from anondb.models import ALGORITHM, DATA, GENERAL, OUTPUT, PROMISE, READ

EXAMPLES = """\
anondb demo
anondb demo my-shop --json
anondb peek purchases.csv
anondb peek baskets.csv --layout basket --json
anondb load shop.duckdb --transactions sales.csv --as sales --id customer --item product
anondb load shop.duckdb --transactions sales.csv --as sales --taxonomy food.csv --taxonomy-as food
anondb anonymize shop.duckdb --transactions sales --taxonomy food --k 5 --m 2 --release spring
anondb anonymize clicks.dat --taxonomy pages.csv --model k --algorithm clump --option candidates=10
anondb verify spring.duckdb
anondb verify shop.duckdb --transactions sales --k 5 --m 2 --witnesses 5
anondb accuracy shop.duckdb --release spring
anondb accuracy shop.duckdb --release spring --workload log.sql
anondb publish shop.duckdb --release spring --to spring.duckdb
anondb publish shop.duckdb --release spring --to spring.duckdb --proof spring-proof
anondb run shop.duckdb policy.sql
echo 'SHOW ANONYMIZED VIEWS;' | anondb run shop.duckdb -
anondb query spring.duckdb "SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'"
anondb query spring.duckdb "SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread')" --json
anondb query spring.duckdb "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 5"
anondb query spring.duckdb
anondb serve spring.duckdb
anondb serve spring.duckdb --port 5440 --password-file password.txt --bounds none
anondb ui purchases.csv
anondb ui spring.duckdb --no-browser --port 8600
anondb explain shop.duckdb --release spring --item milk
anondb explain shop.duckdb --release spring --item milk --json
anondb releases shop.duckdb
anondb releases shop.duckdb --json
anondb inspect spring.duckdb
anondb inspect spring.duckdb --json
anondb attack shop.duckdb --release spring
anondb attack shop.duckdb --release spring --known 2 --json
anondb compare shop.duckdb --transactions sales --taxonomy food --k 2,5 --m 1,2
anondb compare clicks.dat --taxonomy pages.csv --algorithms mhghs,apriori --report compare.html
anondb report shop.duckdb --release spring --html spring-owner.html
anondb report spring.duckdb --html spring.html
anondb profile shop.duckdb --transactions sales --taxonomy food
anondb profile clicks.csv --id session --item page --k 10 --html profile.html
anondb advise shop.duckdb --transactions sales --taxonomy food
anondb advise clicks.csv --id session --item page --m 3 --k 10 --no-item-supports --time-limit 600
anondb advise clinic.duckdb --transactions visits --records people --quasi-identifiers age,town --time-limit 600
anondb algorithms
anondb algorithms clump
"""


def epilog(command: str) -> str:
    """The examples of a command, one per line."""
    shown = (line for line in EXAMPLES.splitlines() if re.search(rf"\banondb {command}\b", line))
    return "\n  ".join(("Examples:", *shown))


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
