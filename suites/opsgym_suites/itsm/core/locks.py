"""A task about locks on records that another party must agree to release: it answers over night, in the notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Incident
from opsgym_suites.itsm.calls import (
    articles_of,
    callers,
    find_user,
    notify,
    numbers,
    suggest,
    unlink_article,
)
from opsgym_suites.itsm.core.messages import drop, messages_about
from opsgym_suites.itsm.core.recurring import BOTANICS, proposal, resolve
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.core.weeks import MORNING, two_days
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, on_day
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import NOW


def locked_records(world: World) -> Iterable[Draft]:
    """Locks that the laboratory gives free over night, but for one."""
    records = CompanyRecords(world, BOTANICS)
    actor, article = records.person("Sana Qureshi"), records.article("Releasing a batch record")
    cases = records.open_reports("Batch record cannot be saved")
    waiting, *free = cases
    wrong, (failed,) = records.articles(*cases), records.messages(*cases, status="failed")
    of_failed = next(case for case in cases if case.incident_id == failed.incident_id)
    event = ScenarioEvent(world, MORNING - NOW)
    for case in cases:
        decision = "keep the lock until Friday" if case is waiting else "may be released"
        event.change(case, worknotes=f"{case.worknotes or ''} Laboratory: {decision}.".strip())
    released, staying = "Lock released.", "The laboratory still needs the lock."
    first = [
        find_user(actor),
        call("list_incidents", short_description="Batch record cannot be saved", assigned_to=actor.user_id),
        call("retrieve_knowledge_articles", title=article.title),
        *(articles_of(case) for case in cases),
        *(messages_about(case) for case in cases),
        *(suggest(case, article) for case in cases),
        *(unlink_article(link) for link in wrong),
        notify(of_failed, records.caller(of_failed), failed.type or "", failed.subject or "", failed.message or ""),
        drop(failed),
    ]

    def done(cases: Sequence[Incident]) -> list[ToolCall]:
        return [
            *(resolve(case, actor.user_id, "Known Error", released) for case in cases),
            *(proposal(records, case, released) for case in cases),
        ]

    read = [call("list_incidents", short_description="Batch record cannot be saved"), *callers(cases)]
    informed = notify(waiting, records.caller(waiting), "update", f"{waiting.number}: lock", staying)
    yield two_days(
        world,
        event,
        slug="locks-that-the-laboratory-releases",
        actor=actor,
        prompt=(
            "Batch records that cannot be saved: I have a few of these open. Our internal article on releasing them "
            "says whom to ask, which I do now. Link it on each as suggested, for my own use, and take off whatever "
            "article is there and has nothing to do with it. If a message about one of them has failed, send it again "
            "word for word, then delete the failed one. Which reports are they?"
        ),
        message=(
            "Good morning. The laboratory has put its answer into the notes of each. Where it lets go I have released "
            f"the lock: resolve these in my name, notes '{released}', with the code that earlier ones of this kind "
            f"have, and the message due. Where it does not, only an update to the caller: '{staying}' Which one is it?"
        ),
        plan=(
            "Look up Sana Qureshi, her open reports about it, the article, and the articles and messages of each.",
            "Suggest the article on each, remove the other one, repeat the failed message and delete it.",
            "Second day: read the notes; the laboratory keeps one lock.",
            "Resolve the others as Known Error (INC-7) with their messages; update the caller of the one that stays.",
        ),
        first=first,
        second=[*read, *done(free), informed],
        careless=[*read, *done(cases)],
        first_answer=f"They are {numbers(cases)}.",
        answer=f"{waiting.number} has to wait, its caller knows; {numbers(free)} are resolved.",
        access=Access.STRICT,
        verifiers=(
            answer_says(
                "names_them", "The first answer names them [REF-3]", all_of(case.number for case in cases), day=1
            ),
            answer_says("names_the_one_that_waits", "The answer names it [REF-3]", waiting.number),
        ),
        tools=("update_notification", "create_knowledge_article", "find_incident_knowledge_links", "update_problem"),
        mistakes={"resolves the one that is kept": on_day(2, resolve(waiting, actor.user_id, "Known Error", released))},
        rules={
            "update_incident": "INC-7, PRC-1",
            "send_notification": "INC-7, NTF-2, NTF-3",
            "link_knowledge_to_incident": "KB-1",
            "remove_knowledge_link_to_incident": "ID-4",
            "delete_notifications": "ID-4",
        },
    )


FAMILIES = (locked_records,)
