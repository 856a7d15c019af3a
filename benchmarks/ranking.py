"""Rankings and claims of the paper as Markdown tables: python benchmarks/ranking.py RESULTS

First a table for each task, the best method at the last labels first, then the claims that these results have a number
for. `actune bench report RESULTS` shows the same and more on one page.
"""

import sys
from pathlib import Path

from actune.bench.evidence import Evidence
from actune.bench.paper.claims import judge_paper
from actune.bench.paper.judging import claims_table
from actune.bench.ranking import ranking_table
from actune.bench.store import Results


def tables(folder: Path) -> list[str]:
    evidence = Evidence(Results(folder))
    found = [ranking_table(evidence, scene) for scene in evidence.scenes if evidence.methods(scene)]
    measured = [each for each in judge_paper(evidence) if each.measured.found]
    return [table.markdown() for table in (*found, claims_table(measured))]


if __name__ == "__main__":
    print("\n".join(tables(Path(sys.argv[1]))))
