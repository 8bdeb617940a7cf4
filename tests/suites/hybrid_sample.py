"""A suite of two tasks on the seeds `fenmoor` of ITSM and CSM, for tests of the kit."""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import only_for, term
from opsgym_domains.csm.tables import CustomerCase
from opsgym_domains.csm.tables import User as CustomerUser
from opsgym_domains.itsm.tables import Incident
from opsgym_suites.csm.authored import SERVER as CSM
from opsgym_suites.csm.calls import find_case, update_case
from opsgym_suites.csm.verification import VERIFIERS as CSM_VERIFIERS
from opsgym_suites.hybrid.cast import COMPANY
from opsgym_suites.hybrid.seeds import SEED, WORLDS
from opsgym_suites.itsm.authored import SERVER as ITSM
from opsgym_suites.itsm.calls import find_incident, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.verification import VERIFIERS as ITSM_VERIFIERS
from opsgym_suites.kit.data_files import AuthoredDomain
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Person, call, on_gym
from opsgym_suites.kit.hybrid import HybridVerifiers, event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import HYBRID, SeedTasks, Suite, Worlds
from opsgym_suites.kit.verifiers import answer_refuses, answer_says

VERIFIERS = HybridVerifiers({ITSM: ITSM_VERIFIERS, CSM: CSM_VERIFIERS})
NOTE = "The order list is slow"


def worlds() -> Worlds:
    return {ITSM.gym: WORLDS["itsm"](), CSM.gym: WORLDS["csm"]()}


def drafts(seeds: Worlds) -> list[Draft]:
    return [reported(seeds), refused(seeds)]


def records(seeds: Worlds) -> tuple[Incident, CustomerCase, dict[str, Person]]:
    """An incident, a case that is being worked on, and managers of both desks."""
    itsm, csm = seeds[ITSM.gym], seeds[CSM.gym]
    incident = next(row for row in itsm.all(Incident) if row.status == "in_progress" and not row.worknotes)
    case = next(row for row in csm.all(CustomerCase) if row.state == "in_progress")
    manager = CompanyRecords(itsm, COMPANY).person("Sunniva Hale")  # type: ignore[arg-type]
    return incident, case, {ITSM.gym: manager, CSM.gym: csm.one(CustomerUser, first_name="Tobiah", role="manager")}


def reported(seeds: Worlds) -> Draft:
    """The agent notes the case in the incident; then the case gets another text, which the agent must not overwrite."""
    incident, case, actors = records(seeds)
    event = ScenarioEvent(seeds[CSM.gym]).change(case, short_description=f"{case.short_description} (again)")
    noted = f"SELECT worknotes IS NOT NULL FROM incident WHERE incident_id = '{incident.incident_id}'"
    read = (*on_gym(ITSM.gym, find_incident(incident)), *on_gym(CSM.gym, find_case(case)))
    note = on_gym(ITSM.gym, update_incident(incident, worknotes=f"Customer's case: {case.number}."))
    raise_it = on_gym(CSM.gym, update_case(case, priority="critical"))
    draft = Draft(
        slug="case-in-incident",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=f"Note the number of case {case.number} in {incident.number}. Then set the case to critical. What is "
        "its short description in the end?",
        plan=("Read incident and case.", "Note the number, set the priority, and read the case again."),
        gold=(*read, *note, *on_gym(CSM.gym, find_case(case)), *raise_it),
        answer=f"{incident.number} names the case. The case is critical: {case.short_description} (again).",
        verifiers=(answer_says("says_the_text", "The answer has the new text [REF-3]", r"\(again\)"),),
        events=(event_on(CSM.gym, event.happens_when(noted), when=ITSM.gym),),
        mistakes={
            "sets the incident too": on_gym(ITSM.gym, update_incident(incident, priority="critical")),
            "puts the text back": on_gym(CSM.gym, update_case(case, short_description=case.short_description)),
        },
        negative_trajectories={
            "answers from memory": NegativeTrajectory((*read, *note, *raise_it), f"It is {case.short_description}.")
        },
    )
    rules: Mapping[str, Mapping[str, str]] = {CSM.gym: {"update_case": "CAS-2"}}
    return VERIFIERS.with_verifiers(seeds, draft, {CSM.gym: event}, rules=rules)


def refused(seeds: Worlds) -> Draft:
    """The desk's manager may do in one system what the customer's agent may not do in the other."""
    incident, case, actors = records(seeds)
    agent = next(row for row in seeds[CSM.gym].all(CustomerUser) if row.role == "agent" and row.active)
    actors = {**actors, CSM.gym: agent}
    read = (
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(CSM.gym, call("find_user_by_email", email=agent.email), find_case(case)),
    )
    retire = on_gym(CSM.gym, call("update_product", product_id=case.product_id, lifecycle_state="retired"))
    draft = Draft(
        slug="contract-for-incident",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=f"Resolve {incident.number} as a user error, and retire the product of case {case.number} in our "
        "catalogue: both or neither, please.",
        plan=("Read incident, case and the acting user's role.", "Decline: agents only read products."),
        gold=read,
        answer=f"Nothing was done: only managers and admins retire a product, so {incident.number} is unchanged too.",
        verifiers=answer_refuses(only_for("manager", "admin"), subject_pattern=term("product")),
        tools=("update_incident", "update_product"),
        feasible=False,
        access=Access.STRICT,
        evidence=(agent, case),
        mistakes={"resolves the incident": on_gym(ITSM.gym, update_incident(incident, worknotes="User error."))},
        negative_trajectories={
            "tries it": NegativeTrajectory((*read, *retire), "The product is retired.", rule="CSM-ID-2"),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(seeds, draft)


SUITE = Suite(ITSM, "hybrid-sample", (SeedTasks(SEED, worlds, drafts),), others=(CSM,))
AUTHORED = AuthoredDomain(HYBRID, {}, (SUITE,))
