"""The frame of a page, its style, and its tables. A page loads nothing and runs no script. It follows the reader's colour
scheme, fits a window of 390 pixels, and prints on A4. Narrow windows show each row of a table as a block with the names of
its columns."""

from collections.abc import Iterable, Sequence
from html import escape, unescape

from anondb import __version__

_LIGHT = """--ink: #1d2025; --soft: #5a626c; --faint: #d5dae0; --paper: #fff; --panel: #f4f6f8; --accent: #1f63a8;
  --warm: #b0480f;"""
_DARK = """--ink: #e6e8eb; --soft: #a3abb5; --faint: #3b424b; --paper: #14171a; --panel: #1e2327; --accent: #76b3f2;
  --warm: #f2a371;"""
STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }} h2 {{ font-size: 1.25rem; margin: 2.4rem 0 .5rem; }}
h3 {{ font-size: 1rem; margin: 1.2rem 0 .3rem; }} p, ul {{ max-width: 54rem; margin: .4rem 0 .8rem; }}
p, li, h1, h2, h3, pre, td.text, .tile, figcaption {{ overflow-wrap: anywhere; }}
ul {{ padding-left: 1.3rem; }} li {{ margin: .2rem 0; }} figure {{ margin: 0; min-width: 0; }}
.note, figcaption {{ color: var(--soft); font-size: .9rem; }}
.owner {{ border-left: 4px solid var(--warm); background: var(--panel); padding: .5rem .8rem; max-width: 54rem; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .7rem; margin: 1.2rem 0; }}
.tile {{ background: var(--panel); border-radius: .4rem; padding: .6rem .8rem; }} .tile b {{ display: block;
  font-size: 1.45rem; line-height: 1.3; }} .tile span {{ color: var(--soft); font-size: .85rem; display: block; }}
table {{ border-collapse: collapse; font-size: .88rem; max-width: 100%; margin: .5rem 0 1rem; }}
th, td {{ padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--faint); text-align: right; vertical-align: top; }}
th {{ vertical-align: bottom; line-height: 1.25; font-weight: 600;
  overflow-wrap: normal; }} .text {{ text-align: left; min-width: 5.5rem; }}
td {{ font-variant-numeric: tabular-nums; white-space: nowrap; }} td.text {{ white-space: normal; }}
.many {{ font-size: .8rem; }} .many th, .many td {{ padding-right: .45rem; }} .many td.text {{ overflow-wrap: break-word; }}
pre {{ background: var(--panel); border-radius: .4rem; padding: .7rem .9rem; overflow-wrap: anywhere; white-space: pre-wrap;
  font-size: .85rem; }}
.plots, .pair {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.2rem; }}
.pair {{ gap: 0 1.6rem; }} .whole, .owner code {{ white-space: nowrap; }}
.flow {{ columns: 26rem; column-gap: 1.2rem; }} .flow figure {{ break-inside: avoid; }}
th:first-child {{ white-space: nowrap; }}
.plots h3 {{ margin-bottom: .2rem; }} .plots > * {{ min-width: 0; }} .plots figure > svg {{ width: 100%; max-width: 31rem; }}
:not(svg, g) > svg {{ display: block; max-width: 100%; height: auto; color: var(--ink); }}
.narrow, .paper {{ display: none; }} .axis, .tick, .name, .head {{ font: 12px system-ui, sans-serif; fill: var(--ink); }}
.head {{ font-weight: 600; }}
.tick {{ fill: var(--soft); }} .grid {{ stroke: var(--faint); }} .line, .ring {{ fill: none; stroke: var(--ink);
  stroke-width: 1.6; }} .ring, .front {{ stroke: var(--accent); }} .front {{ fill: none; stroke-width: 5; opacity: .3; }}
.bar, .dot {{ fill: var(--accent); }} .warm {{ fill: var(--warm); }} .bounds {{ stroke: var(--accent); opacity: .35; }}
.truth {{ stroke: var(--warm); }} .cell {{ fill: var(--accent); stroke: var(--paper); stroke-width: 2; }}
.same {{ fill: var(--faint); fill-opacity: .6; }} .gone {{ fill: var(--warm); fill-opacity: .4; }}
.legend svg {{ display: inline-block; width: 1.1rem; height: 1.1rem; vertical-align: -.2rem; }}
.legend span {{ margin-right: 1.1rem; white-space: nowrap; }}
@media (max-width: 640px) {{
  .wide {{ display: none; }} .narrow {{ display: block; }}
  table, tbody {{ display: block; }} thead {{ display: none; }}
  tr {{ display: grid; grid-template-columns: 1fr 1fr; padding: .5rem 0; gap: 0 1.2rem;
    border-bottom: 1px solid var(--faint); }} .long {{ grid-column: 1 / -1; }}
  td {{ border: 0; padding: .05rem 0; display: flex; justify-content: space-between; gap: .5rem; }}
  td::before {{ content: attr(data-name); color: var(--soft); text-align: left; white-space: normal; }}
  td:first-child, td.text {{ grid-column: 1 / -1; display: block; text-align: left; }}
  td:first-child {{ font-weight: 600; }} td:first-child::before {{ content: none; }}
  td.text:not(:first-child, [data-name=""])::before {{ content: attr(data-name) ": "; }} td:empty {{ display: none; }}
}}
@page {{ size: A4; margin: 12mm 10mm; }}
@media print {{
  :root {{ color-scheme: light; {_LIGHT} }}
  html {{ font-size: 13px; }} body {{ font-size: 10pt; padding: 0; max-width: none; }} table {{ font-size: 8pt; }}
  th, td {{ padding: .2rem .45rem .2rem 0; }}
  tr, thead, figure, .tile, pre, .owner, li, .few {{ break-inside: avoid; }} h1, h2, h3, thead {{ break-after: avoid; }}
  .many {{ font-size: 6.5pt; }} .many td.text {{ overflow-wrap: anywhere; }} .many th, .many td {{ padding-right: .3rem; }}
  .wide.on-screen {{ display: none; }} .paper {{ display: block; }}
  .tile b {{ font-size: 1.15rem; }} .plots {{ display: block; }}
  .plots figure {{ display: inline-block; width: 49%; vertical-align: top; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
}}
"""
SHORT = 16  # in narrow windows, columns with longer names have a line of their own
FEW = 20  # tables with no more rows are printed on one page
MANY = 10  # tables with more columns are printed in a small font
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: Iterable[str]) -> str:
    """A whole page; ``title`` is plain text, the parts of ``body`` are HTML."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
    )
    end = f'<p class="note">Made by anondb {__version__}.</p>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n'
        + "\n".join(part for part in body if part)
        + f"\n{end}</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int] = (0,)) -> str:
    """A table, of HTML cells; ``text`` are the numbers of the columns with text, aligned to the left. A row that is shorter
    than the head ends with a text that spans the rest. Without rows there is no table."""
    listed = list(rows)
    if not listed:
        return ""
    last = len(head) - 1
    long = _long([0 if i in text else len(unescape(name)) for i, name in enumerate(head)])

    def kind(i: int, row: Sequence[str]) -> str:
        spans = i == len(row) - 1 < last
        name = "text" if spans or i in text else "long" * (i in long)
        return (f' class="{name}"' if name else "") + (f' colspan="{last - i + 1}"' if spans else "")

    def cells(row: Sequence[str]) -> str:
        names = (head[i] if i < len(row) - 1 or i == last else "" for i in range(len(row)))
        return "".join(
            f'<td{kind(i, row)} data-name="{name}">{cell}</td>'
            for i, (name, cell) in enumerate(zip(names, row, strict=True))
        )

    tops = ["th" if name else "td" for name in head]  # nobody reads out a heading without a word
    top = "".join(f"<{top}{kind(i, head)}>{name}</{top}>" for i, (top, name) in enumerate(zip(tops, head, strict=True)))
    body = "".join(f"<tr>{cells(row)}</tr>" for row in listed)
    kinds = {"few": len(listed) <= FEW, "many": len(head) > MANY}
    names = " ".join(name for name, holds in kinds.items() if holds)
    return f'<table class="{names}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _long(lengths: Sequence[int]) -> set[int]:
    """The columns of numbers that have a line of their own in narrow windows, by the lengths of names (0 for columns of
    text). Two columns share a line there if they are neighbours and have short names; none does if half of the names are
    long."""
    numbers = [i for i, length in enumerate(lengths) if length]
    long = {i for i in numbers if lengths[i] > SHORT}
    if 2 * len(long) >= len(numbers):
        return set(numbers)
    waiting: int | None = None
    for i, length in enumerate([*lengths, 0]):
        alone = i == 0 or i in long or not length
        if alone and waiting is not None:
            long.add(waiting)
        waiting = None if alone or waiting is not None else i
    return long


def tiles(figures: Iterable[tuple[str, str, str]]) -> str:
    """The main figures of a page: name, value, and a remark, as HTML."""
    cells = (f"<span>{name}</span><b>{value}</b><span>{remark}</span>" for name, value, remark in figures)
    return '<div class="tiles">' + "".join(f'<div class="tile">{cell}</div>' for cell in cells) + "</div>"


def both(wide: str, narrow: str, paper: str = "") -> str:
    """Drawings of one plot: for wide windows, for narrow ones, and for paper if that of wide windows is too wide."""
    printed = f'<div class="paper">{paper}</div>' if paper else ""
    return f'<div class="wide{" on-screen" * bool(paper)}">{wide}</div><div class="narrow">{narrow}</div>{printed}'
