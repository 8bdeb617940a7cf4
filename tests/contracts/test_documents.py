"""A file that declares a run is read as a cluster would read it, or refused with path, line and allowed values."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from opsgym_api.errors import InputError
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import Agent, EvalRunSpec, Mode, ModelEntry, Suite
from opsgym_core.planning.documents import Documents, load_documents, resolve_models

RUN = """\
apiVersion: opsgym.dev/v1alpha1
kind: EvalRun
metadata: {name: nightly}
spec:
  suite: {builtin: quickstart}
  models:
  - name: gold
    inline: {model: replay/gold}
"""
MODEL = """\
apiVersion: opsgym.dev/v1alpha1
kind: EvalModel
metadata: {name: gpt}
spec: {model: openai/gpt-5, maxConcurrency: 3}
"""


def load(folder: Path, text: str) -> Documents:
    file = folder / "run.yaml"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_documents(file)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(folder, text)
    assert caught.value.source == str(folder / "run.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_a_short_file_gets_every_default(tmp_path: Path) -> None:
    documents = load(tmp_path, RUN)
    assert documents.run.metadata.name == "nightly"
    assert documents.run.spec == EvalRunSpec(
        suite=Suite(builtin="quickstart", modes=[Mode.ORACLE]),
        models=[ModelEntry(name="gold", inline=ModelSpec(model="replay/gold", max_concurrency=8))],
        agents=[Agent(name="react", orchestrator="react", plan="none", max_steps=50)],
        trials=1,
    )
    assert documents.models == {}
    assert documents.folder == tmp_path


def test_a_run_names_models_of_the_same_file(tmp_path: Path) -> None:
    entry = "  - name: best\n    ref: gpt\n"
    documents = load(tmp_path, f"{RUN}{entry}---\n{MODEL}---\n")
    assert resolve_models(documents.run, documents.models) == {
        "gold": ModelSpec(model="replay/gold"),
        "best": ModelSpec(model="openai/gpt-5", max_concurrency=3),
    }


def test_json_is_read_too(tmp_path: Path) -> None:
    documents = load(
        tmp_path,
        '{"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "j", "labels": {"a": "b"}},'
        ' "spec": {"suite": {"path": "tasks"}, "models": [{"name": "m", "inline": {"model": "replay/noop"}}]}}',
    )
    assert documents.run.spec.suite.path == "tasks"


def test_an_object_returned_by_a_cluster_is_read(tmp_path: Path) -> None:
    documents = load(
        tmp_path, RUN.replace("{name: nightly}", "{name: nightly, uid: x, generation: 2}") + "status: {}\n"
    )
    assert documents.run.status is not None


def test_aliases_that_stand_for_billions_of_values_are_refused_at_once(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (problem,) = problems(tmp_path, "\n".join(["a0: &a0 [x, x, x]", *levels]))
    assert "its aliases repeat 1e+11 values; at most 100000 are read" in problem


def test_an_anchor_saves_repeating_a_model(tmp_path: Path) -> None:
    documents = load(
        tmp_path,
        """\
        apiVersion: opsgym.dev/v1alpha1
        kind: EvalRun
        metadata: {name: nightly}
        spec:
          suite: {builtin: quickstart}
          models:
          - name: cold
            inline: &base
              model: openai/gpt-5
              parameters: {temperature: 0}
          - name: hot
            inline:
              <<: *base
              parameters: {temperature: 1e0, stop: no, seed: 007}
        """,
    )
    assert resolve_models(documents.run, {})["hot"] == ModelSpec(
        model="openai/gpt-5", parameters={"temperature": 1.0, "stop": "no", "seed": "007"}
    )


@pytest.mark.parametrize("name", ["on", "no", "y", "null-model", "010", "2026-01-01", "1e3x", "0x1f"])
def test_a_name_that_yaml_1_1_reads_as_another_type_stays_text(tmp_path: Path, name: str) -> None:
    documents = load(tmp_path, RUN.replace("- name: gold", f"- name: {name}"))
    assert documents.run.spec.models[0].name == name


@pytest.mark.parametrize(
    ("value", "shown"),
    [("010", "'010'"), ("1_0", "'1_0'"), ("'10'", "'10'"), ("0o17", "'0o17'"), ("1:30", "'1:30'"), ("~", "None")],
)
def test_a_number_that_yaml_versions_read_differently_is_refused(tmp_path: Path, value: str, shown: str) -> None:
    assert problems(tmp_path, f"{RUN}  trials: {value}\n") == [
        f"spec.trials (line 9): must be a valid integer, found {shown}"
    ]


@pytest.mark.parametrize(
    ("value", "expected"), [("10", 10.0), ("+2.50", 2.5), ("1e2", 100.0), (".5", 0.5), ("7.", 7.0)]
)
def test_numbers_are_read(tmp_path: Path, value: str, expected: float) -> None:
    budget = load(tmp_path, f"{RUN}  budget: {{maxUsd: {value}}}\n").run.spec.budget
    assert budget is not None
    assert budget.max_usd == expected


@pytest.mark.parametrize("value", [".inf", ".nan", "1e999"])
def test_a_budget_that_is_not_finite_is_refused(tmp_path: Path, value: str) -> None:
    [problem] = problems(tmp_path, f"{RUN}  budget: {{maxUsd: {value}}}\n")
    assert "line 9" in problem


@pytest.mark.parametrize("value", ["true", "True", "TRUE"])
def test_booleans_are_true_and_false(tmp_path: Path, value: str) -> None:
    assert load(tmp_path, f"{RUN}  suspend: {value}\n").run.spec.suspend is True


def test_other_words_are_not_booleans(tmp_path: Path) -> None:
    assert problems(tmp_path, f"{RUN}  suspend: on\n") == ["spec.suspend (line 9): must be a valid boolean, found 'on'"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "name: gold",
            "name: Gold",
            (
                "spec.models[0].name (line 7): 'Gold' must be lower-case letters, digits, '-' and '.', "
                "a letter or digit first and last"
            ),
        ),
        ("name: gold", "nam: gold", "spec.models[0].name (line 7): is required"),
        (
            "{builtin: quickstart}",
            "{}",
            "spec.suite (line 5): exactly one of builtin, path, objectStore, configMap is required, found 0",
        ),
        (
            "{builtin: quickstart}",
            "{builtin: a, path: b}",
            "spec.suite (line 5): exactly one of builtin, path, objectStore, configMap is required, found 2",
        ),
        (
            "{builtin: quickstart}",
            "{builtin: a, modes: [oracel]}",
            (
                "spec.suite.modes[0] (line 5): 'oracel' is not allowed; allowed: 'oracle', 'plus_5_tools', "
                "'plus_10_tools', 'plus_15_tools' or 'all_tools'"
            ),
        ),
        (
            "{builtin: quickstart}",
            "{builtin: a, modes: oracle}",
            "spec.suite.modes (line 5): must be a list, found 'oracle'",
        ),
        (
            "{builtin: quickstart}",
            "{builtin: a, modes: []}",
            "spec.suite.modes (line 5): must have at least 1 items, found 0",
        ),
        (
            "{builtin: quickstart}",
            "{builtin: a, modes: [oracle, oracle]}",
            "spec.suite (line 5): modes: names must be unique, found twice: oracle",
        ),
        ("{builtin: quickstart}", "quickstart", "spec.suite (line 5): must be a map of fields, found 'quickstart'"),
        ("{builtin: quickstart}", "", "spec.suite (line 5): must be a map of fields, found None"),
        (
            "    inline: {model: replay/gold}\n",
            "",
            "spec.models[0] (line 7): exactly one of ref and inline is required",
        ),
        (
            "replay/gold}",
            "replay/gold, maxConcurency: 2}",
            "spec.models[0].inline.maxConcurency (line 8): is not a field here; did you mean maxConcurrency?",
        ),
        (
            "replay/gold}",
            "replay/gold, zzz: 2}",
            (
                "spec.models[0].inline.zzz (line 8): is not a field here; allowed: model, endpoints, credentials, aws, "
                "parameters, stream, maxConcurrency, prices, allowUnpriced"
            ),
        ),
        (
            "replay/gold}",
            "replay/gold, maxConcurrency: 0}",
            "spec.models[0].inline.maxConcurrency (line 8): must be greater than or equal to 1, found 0",
        ),
        (
            "replay/gold}",
            "replay/gold, credentials: {}}",
            (
                "spec.models[0].inline.credentials (line 8): name a secret (in a cluster), an env variable (on one "
                "machine), or both"
            ),
        ),
        ("metadata: {name: nightly}", "metadata: {}", "metadata.name (line 3): is required"),
        ("spec:", "spek:", "spec (line 1): is required"),
    ],
)
def test_a_mistake_is_named_with_path_line_and_allowed_values(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in RUN
    assert expected in problems(tmp_path, RUN.replace(old, new))


def test_every_problem_is_named_not_only_the_first(tmp_path: Path) -> None:
    text = RUN.replace("name: gold", "name: G").replace("quickstart", "Q") + f"---\n{MODEL.replace('3', '-3')}"
    assert [problem.split(":")[0] for problem in problems(tmp_path, text)] == [
        "spec.suite.builtin (line 5)",
        "spec.models[0].name (line 7)",
        "spec.maxConcurrency (line 13)",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty; expected an EvalRun, and EvalModels if it names any"),
        ("---\n# nothing\n---\n", "is empty; expected an EvalRun, and EvalModels if it names any"),
        ("just words", "line 1: a document must be a map with apiVersion, kind, metadata and spec"),
        ("- a\n- b", "line 1: a document must be a map with apiVersion, kind, metadata and spec"),
        ("kind: Pod\napiVersion: v1", "kind (line 1): 'Pod' is not known; allowed: EvalRun, EvalModel"),
        ("apiVersion: v1", "kind (line 1): is required; allowed: EvalRun, EvalModel"),
        ("kind: [1]", "kind (line 1): [1] is not known; allowed: EvalRun, EvalModel"),
        ("kind: evalrun", "kind (line 1): 'evalrun' is not known; did you mean 'EvalRun'?"),
        (
            "kind: EvalRun\napiVersion: opsgym.dev/v1",
            "apiVersion (line 2): 'opsgym.dev/v1' is not known; did you mean 'opsgym.dev/v1alpha1'?",
        ),
        ("kind: EvalRun", "apiVersion (line 1): is required; allowed: opsgym.dev/v1alpha1"),
        ("a: b: c", "line 1, column 5: is not YAML: mapping values are not allowed here"),
        (
            "a:\n\t- b",
            (
                "line 2, column 1: is not YAML: while scanning for the next token; found character '\\t' that cannot "
                "start any token"
            ),
        ),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: is not YAML: the key 'a' is used twice"),
        ("[a]: 1", "line 1, column 1: is not YAML: a key must be text"),
        ("a: *nowhere", "line 1, column 4: is not YAML: found undefined alias 'nowhere'"),
        (
            "a: !!python/object:os.system x",
            (
                "line 1, column 4: is not YAML: could not determine a constructor for the tag "
                "'tag:yaml.org,2002:python/object:os.system'"
            ),
        ),
        (
            "a: !!binary aGk=",
            "line 1, column 4: is not YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:binary'",
        ),
        ("a: !!int x", "a value does not fit its `!!` tag; leave the tag out"),
        ("a: !!bool x", "a value does not fit its `!!` tag; leave the tag out"),
        ("a: " + "[" * 5000, "is nested too deeply"),
        (MODEL, "exactly one EvalRun is required, found 0"),
        (f"{RUN}---\n{RUN}", "exactly one EvalRun is required, found 2: nightly, nightly"),
        (f"{RUN}---\n{MODEL}---\n{MODEL}", "metadata.name: 'gpt' names several EvalModels; names must be unique"),
        (
            f"{RUN}  - {{name: b, ref: gtp}}\n---\n{MODEL}",
            "spec.models[1].ref: 'gtp' names no EvalModel; known EvalModels: gpt",
        ),
        (
            f"{RUN}  - {{name: b, ref: gpt}}\n",
            (
                "spec.models[1].ref: 'gpt' names no EvalModel; no EvalModel exists; declare it in the namespace or, "
                "on one machine, as a second document of the file"
            ),
        ),
        (
            RUN.replace("EvalRun", "EvalSchedule"),
            (
                "kind (line 2): an EvalSchedule starts runs in a cluster (kubectl apply); "
                "to run one here, make its template an EvalRun"
            ),
        ),
    ],
)
def test_a_file_that_declares_no_run_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    assert problems(tmp_path, text) == [expected]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_documents(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_documents(tmp_path)
    (tmp_path / "latin").write_bytes(b"a: caf\xe9")
    with pytest.raises(InputError, match="byte 6: is not UTF-8 text"):
        load_documents(tmp_path / "latin")
    (tmp_path / "control").write_bytes(b"a: \x00")
    with pytest.raises(InputError, match="is not YAML"):
        load_documents(tmp_path / "control")


def test_a_ref_to_an_unknown_model_is_refused(tmp_path: Path) -> None:
    run = load(tmp_path, f"{RUN}  - {{name: b, ref: gpt}}\n---\n{MODEL}").run
    with pytest.raises(InputError, match=r"nightly: spec.models\[1\].ref: 'gpt' names no EvalModel"):
        resolve_models(run, {})
