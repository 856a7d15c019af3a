"""Tables as words in rows, for a page, for Markdown and for LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actune.bench.wording import escape_latex

LONG = 40  # letters of a first column that LaTeX has to break


@dataclass(frozen=True)
class TextTable:
    """Words in rows; the first column names the row."""

    name: str  # of its files
    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    bold: frozenset[tuple[int, int]] = frozenset()  # cells by row and column, such as the best of each column

    def is_bold(self, row: int, column: int) -> bool:
        return (row, column) in self.bold

    def markdown(self) -> str:
        lines = [self.columns, ["---", *["--:"] * (len(self.columns) - 1)], *self.rows]
        body = "\n".join(f"| {' | '.join(_cell(word) for word in line)} |" for line in lines)
        return f"**{self.title}**\n\n{body}\n" + (f"\n{self.note}\n" if self.note else "")

    def latex(self) -> str:
        """A table environment that needs the package booktabs."""
        body = [self._latex_row(place) for place in range(len(self.rows))]
        rule = [r"\toprule", _latex_row(map(escape_latex, self.columns)), r"\midrule", *body, r"\bottomrule"]
        sentences = any(len(row[0]) > LONG for row in self.rows)
        first = r"p{0.4\linewidth}" if sentences else "l"
        words = " ".join(part for part in (self.title.rstrip(".") + ".", self.note) if part)
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\begin{{tabular}}{{{first}{'r' * (len(self.columns) - 1)}}}",
                *rule,
                r"\end{tabular}",
                rf"\caption{{{escape_latex(words)}}}",
                rf"\label{{tab:{self.name}}}",
                r"\end{table}",
                "",
            ]
        )

    def _latex_row(self, place: int) -> str:
        cells = [escape_latex(cell) for cell in self.rows[place]]
        return _latex_row(
            rf"\textbf{{{cell}}}" if self.is_bold(place, column) else cell for column, cell in enumerate(cells)
        )


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(word: str) -> str:
    return word.replace("|", r"\|").replace("<", "&lt;").replace("\n", " ")
