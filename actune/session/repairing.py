"""`actune repair`: what the log, the texts and the last round allow to be rebuilt, and nothing that is lost with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actune.core.checks import checked_folder
from actune.core.files import locked, storage_sentences
from actune.core.progress import Progress, silent
from actune.errors import ActuneError, RunFolderError
from actune.methods.finding import MethodValue
from actune.session.config import Config, load_config
from actune.session.session import Session
from actune.session.setup import check_counts, class_names, open_session
from actune.session.verifying import problems_in
from actune.store.repairing import is_readable, rebuild, recover, set_aside
from actune.store.store import Store
from actune.store.verifying import needed_arrays


@dataclass(frozen=True)
class Repaired:
    """What was done, and what is still wrong; all of it as sentences."""

    done: tuple[str, ...]
    problems: tuple[str, ...]


def repair(folder: str | Path, progress: Progress = silent, method: str | MethodValue | None = None) -> Repaired:
    """Rebuilds what can be rebuilt. Whatever is replaced is kept under another name, so that nothing is lost."""
    folder = checked_folder(folder)
    config = load_config(folder)  # which cannot be rebuilt
    if not problems_in(folder):
        return Repaired((), ())
    done: list[str] = []
    with storage_sentences(folder), locked(folder, "advancing"):
        if not _is_readable(folder, config):
            rows = None if config.resolved.stored else config.resolved.pool
            done += recover(folder, rows, len(config.resolved.classes))
        with Store.open(folder) as store:
            done += rebuild(store)
    if problems_in(folder):
        try:
            with open_session(folder, progress, method) as session, session.store.advancing():
                done += restore_round(session)
        except ActuneError as error:
            done.append(f"the last round was not made again: {error}")
    return Repaired(tuple(done), tuple(problems_in(folder)))


def restore_round(session: Session) -> list[str]:
    """Makes a damaged model or damaged arrays of the last round again, from the answers that the round knew.

    Old arrays, which only the report shows, are set aside.
    """
    store, round, done = session.store, session.fitted - 1, []
    newest = {f"fit-{round:03d}", f"select-{round + 1:03d}", f"memory-{round + 1:03d}", "weak"}
    broken = [name for name in dict.fromkeys([*store.array_names(), *needed_arrays(store)]) if _broken(store, name)]
    for name in broken:
        if store.has_arrays(name) and name != "weak":
            kept = set_aside(store.array_file(name))
            done.append(f"{name} is damaged; it is kept as {kept.name}")
    models = [model for model in store.models() if model.kind == "round" and model.round == round]
    lost = [model for model in models if _is_lost(store, store.place_of(model))]
    wanted = [name for name in broken if name in newest - {"weak"}]
    if round < 0 or not (lost or wanted):
        return done
    facts = session.rounds()[round]
    labels = session.labels_of(facts)
    prepared, fitted = session._fit_round(labels, round)
    for model in lost:
        made = session._write_model(prepared.learner_name, fitted.classifier, facts, round, "round")
        store.replace_model(model.folder, made)
        done.append(f"the model of round {round} was trained again from the {len(labels.of_row):,} labels that it knew")
    if f"fit-{round:03d}" in wanted:
        session._save_fit(prepared, fitted, round)
        done.append(f"made again: fit-{round:03d}")
    if chosen := [name for name in wanted if not name.startswith("fit-")]:
        choice = session._select(prepared, fitted.classifier, labels, round)
        audit = {*session.audit_rows}  # whose questions were mixed in without a suggestion
        questions = store.questions(round + 1)
        asked = [each.row for each in questions if each.suggestion is not None or each.row not in audit]
        if asked[: len(choice.selection.questions)] != [question.row for question in choice.selection.questions]:
            return [*done, "the questions of this round would now be others, so its pseudo-labels were not made again"]
        session._save_choice(choice)
        done.append(f"made again: {' and '.join(chosen)}")
    store.point_to_newest()
    return done


def _is_readable(folder: Path, config: Config) -> bool:
    try:
        with Store.reading(folder) as store:
            store.classes_expected = len(class_names(store, config))
            store.rows_expected = None if config.resolved.stored else config.resolved.pool
            check_counts(store, config)
            return is_readable(store)
    except RunFolderError:
        return False


def _broken(store: Store, name: str) -> bool:
    try:
        store.load_arrays(name)
        return False
    except ActuneError:
        return True


def _is_lost(store: Store, folder: Path) -> bool:
    try:
        store.check_model(folder)
        return not folder.is_dir()
    except ActuneError:
        return True
