"""What the documentation promises: its tables are what commands print, and what it names exists."""

from __future__ import annotations

import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from actune.bench.grid import AXES, READING, TABLES, load_grid, parse_grid
from actune.bench.store import RESULT_COLUMNS
from actune.bench.vocabulary import RUN_SETTINGS
from actune.cli.app import app
from actune.core.options import options_of
from actune.core.settings import SYMBOLS, Settings, Training
from actune.core.spec import RunSpec
from actune.methods.recipes import RECIPES
from actune.models.learners import AUTO, LEARNERS
from actune.rounds.first import FIRST
from actune.session.request import PRESETS
from actune.weak.label_models import LABEL_MODELS

ROOT = Path(__file__).parents[1]
PAGES = [
    *map(ROOT.joinpath, ("README.md", "CHANGELOG.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "benchmarks/reports").glob("*.md")),
]
USER_PAGES = {"README.md": 80} | {  # each fits on two screens
    f"docs/{name}.md": 100
    for name in (
        "index",
        "quickstart",
        "labelling",
        "team",
        "tutorial",
        "faq",
        "methods",
        "learners",
        "weak",
        "experiments",
        "extend",
        "concepts",
        "paper",
        "thrifty",
        "benchmark",
        "speed",
    )
}
METHODS = (ROOT / "docs/reference/methods.md").read_text(encoding="utf-8")
TABLE = re.compile(r"<!-- methods: actune methods --markdown -->\n(.*?)\n<!-- /methods -->", re.DOTALL)

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def test_the_table_of_methods_is_what_the_command_prints():
    (found,) = TABLE.findall(METHODS)
    assert found == CliRunner().invoke(app, ["methods", "--markdown"]).stdout.strip()


def test_what_is_derived_from_the_options_of_a_run_is_up_to_date():
    derived = runpy.run_path(str(ROOT / "docs/generate.py"))
    for file, text in ((derived["PAGE"], derived["options_page"]()), (derived["TYPES"], derived["types_source"]())):
        assert file.read_text(encoding="utf-8") == text, "run `make options`"


def test_the_help_of_an_option_names_what_it_takes():
    options = options_of(RunSpec)
    for name, known in (
        ("preset", PRESETS),
        ("learner", [AUTO, *LEARNERS]),
        ("first", FIRST),
        ("label_model", LABEL_MODELS),
    ):
        assert all(re.search(rf"\b{word}\b", options[name].help) for word in known), name


def test_every_method_has_its_paragraph():
    told = re.findall(r"\*\*`([\w-]+)`\*\*", TABLE.sub("", METHODS))
    assert sorted(told) == sorted(RECIPES)


def test_every_setting_is_in_a_table_and_every_name_there_is_one():
    known = {field.name for field in (*fields(Settings), *fields(Training))}
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", METHODS[METHODS.index("## Settings") :], re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert known <= set(told) <= known | set(LEARNERS)
    assert len(told) == len(set(told))


def test_symbols_and_other_words_of_the_command_line_are_told():
    for word in SYMBOLS:
        assert re.search(rf"\| [^|]*\b{word}\b[^|]* \|", METHODS), word
    for word in (*FIRST, *PRESETS):
        assert re.search(rf"\b{word}\b", METHODS), word
    for word in LABEL_MODELS:
        assert f"`{word}`" in (ROOT / "docs/weak.md").read_text(encoding="utf-8")


def test_tables_of_the_reports_are_what_their_commands_print():
    made = runpy.run_path(str(ROOT / "benchmarks/reports/make.py"))
    texts = {file: file.read_text(encoding="utf-8") for file in made["FILES"]}
    assert {file.name for file in texts} == {"benchmark.md", "few.md", "speed.md", "thrifty.md"} and len(texts) == 6
    for file, text in texts.items():
        assert made["filled"](text) == text, f"{file.relative_to(ROOT)}: run `python benchmarks/reports/make.py`"
    everything = "".join(texts.values())
    marked = made["MARKED"].findall(everything)
    assert everything.count("<!-- table") == everything.count("<!-- /table -->") == len(marked) > 30


def test_published_results_are_few_small_tables():
    files = [file for file in (ROOT / "benchmarks/results").rglob("*") if file.is_file()]
    assert len(files) <= 70 and sum(file.stat().st_size for file in files) <= 5_000_000
    assert {file.suffix for file in files} <= {".csv", ".jsonl", ".parquet", ".toml"}
    assert {file.name for file in files if file.suffix == ".toml"} == {"grid.toml"}


def test_every_published_result_has_its_command():
    page = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"\]\(results/([\w.]+)\)", page))
    assert told == {path.name for path in (ROOT / "benchmarks/results").iterdir()}


def test_the_page_of_grids_names_every_word_of_a_grid_and_counts_the_cells_of_those_that_ship():
    page = (ROOT / "docs/reference/grids.md").read_text(encoding="utf-8")
    for word in (*TABLES, *AXES, *RUN_SETTINGS, *READING, *RESULT_COLUMNS):
        assert re.search(rf"(?:[`\[]|^){word}\b", page, re.MULTILINE), word
    told = dict(re.findall(r"^\| \[(\w+)\.toml\]\(\S+\) \| (\d+) \|", page, re.MULTILINE))
    shipped = {file.stem: str(len(load_grid(file).points)) for file in (ROOT / "benchmarks/grids").glob("*.toml")}
    assert told == shipped
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    assert len(parse_grid(example).points) == 12 + 3 + 24


def test_the_grid_of_the_page_of_experiments_is_one():
    (example,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/experiments.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(parse_grid(example).points) == 6


@pytest.mark.parametrize(("page", "most"), USER_PAGES.items())
def test_a_page_for_users_fits_on_two_screens(page, most):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= most
    assert all(len(line) <= 120 for line in lines), max(lines, key=len)


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    there = {page.relative_to(ROOT / "docs") for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert {str(page) for page in there} - {"index.md"} == set(re.findall(r"\]\((\S+?\.md)\)", index))


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pages
def test_files_and_what_is_named_in_them_exist(page):
    text = page.read_text(encoding="utf-8")
    for path, names in re.findall(r"`((?:\w+/)+\w+\.py)`((?:(?::|,) `\w+`)*)", text):
        file = next((base / path for base in (ROOT, ROOT / "actune") if (base / path).is_file()), None)
        assert file is not None, path
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^\s*(?:def|class) {name}\b", file.read_text(encoding="utf-8"), re.MULTILINE), name


def every_command(group, before=""):
    """Commands and groups with the words that call them."""
    for name, command in group.commands.items():
        yield before + name, command
        if hasattr(command, "commands"):
            yield from every_command(command, f"{before}{name} ")


@pages
def test_commands_and_options_exist(page):
    text = page.read_text(encoding="utf-8")
    spans = re.findall(r"```\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    lines = [
        line.strip()
        for span in spans
        for line in span.splitlines()
        if not re.search("python (benchmarks|tests)/", line)
    ]
    commands = dict(every_command(typer.main.get_command(app)))
    used = {found[1] for line in lines if (found := re.match(r"actune ((?:bench )?[a-z][a-z-]*)", line))}
    assert used <= set(commands)
    known = {option for command in commands.values() for part in command.params for option in part.opts}
    named = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)}
    assert named <= known | {"--help", "--version"}
