"""`python -m tools.conformance`: replays recorded calls on our server and reports per tool what came of them.

`python -m tools.conformance verifiers` compares the values that public verifiers gave where they were recorded, and
reports what their queries rely on, and which cannot run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.gym import gym_server
from tools.conformance.corpus import document_verdicts_of, headers_of, recordings_of, replay_all, verdicts_of
from tools.conformance.documents import WorldOf, document_world, render_documents, replay_documents
from tools.conformance.published import Published, published_tasks, render_verdicts
from tools.conformance.recordings import Recording
from tools.conformance.report import render
from tools.conformance.sessions import Session, read_sessions, render_sessions, replay_session
from tools.conformance.values import ComparedValue, compare_values, render_values, value_domains
from tools.conformance.verifiers import evidence_of, read_verifiers, render_evidence

from opsgym_domains import registry


def main() -> None:
    """Prints the report, or writes it into a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=__doc__)
    parser.add_argument(
        "what", nargs="?", choices=("calls", "verifiers"), default="calls", help="recorded calls, or public verifiers"
    )
    parser.add_argument("--domain", choices=registry.domains(), default="csm")
    parser.add_argument(
        "--upstream", type=Path, default=os.environ.get("OPSGYM_UPSTREAM"), help="facts of the benchmark"
    )
    parser.add_argument("--only", default=".*", help="pattern of the sessions to replay, where a domain has sessions")
    parser.add_argument("--out", type=Path, help="file to write instead of printing")
    options = parser.parse_args()
    if options.upstream is None:
        parser.error("say by --upstream or OPSGYM_UPSTREAM where the facts of the published benchmark are")
    if options.what == "verifiers":
        _write(_verifiers(Path(options.upstream)), options.out)
        return
    if sessions := read_sessions(Path(options.upstream), options.domain):
        _write(_replayed(options.domain, [s for s in sessions if re.fullmatch(options.only, s.name)]), options.out)
        return
    recordings = recordings_of(Path(options.upstream), options.domain)
    if not recordings:
        parser.error(f"{options.upstream} has no recordings of {options.domain}")
    tasks = published_tasks(Path(options.upstream) / "tasks" / options.domain)
    if world_of := document_world(options.domain):
        _write(_documents(options.domain, recordings, tasks, world_of), options.out)
        return
    with gym_server(options.domain) as gym:
        known = headers_of(Path(options.upstream), options.domain)
        judged = replay_all(gym, options.domain, recordings, known)
        verdicts = asyncio.run(verdicts_of(gym, options.domain, recordings, known, tasks))
    text = f"{render(options.domain, judged)}\n\n{render_verdicts(verdicts)}"
    _write(text, options.out)


def _verifiers(upstream: Path) -> str:
    evidence = [evidence_of(one) for one in read_verifiers(upstream)]
    values: dict[str, list[ComparedValue]] = {}
    for domain in value_domains(upstream):
        with gym_server(domain) as gym:
            values[domain] = compare_values(gym, domain, upstream)
    return f"{render_values(values)}\n\n{render_evidence(evidence)}"


def _documents(domain: str, recordings: Sequence[Recording], tasks: Sequence[Published], world_of: WorldOf) -> str:
    loaded = registry.load(domain)
    with gym_server(domain) as gym:
        judged = replay_documents(gym, loaded, recordings, world_of)
        verdicts = asyncio.run(document_verdicts_of(gym, loaded, recordings, world_of, tasks))
    return f"{render_documents(judged)}\n\n{render_verdicts(verdicts)}"


def _replayed(domain: str, sessions: Sequence[Session]) -> str:
    with gym_server(domain) as gym:
        return render_sessions([replay_session(gym, registry.load(domain), session) for session in sessions])


def _write(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(f"{text}\n")
    else:
        out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
