"""Rows of tables that no tool reads and a published server fills: courses, shifts, files, meetings that are over.

Invariant: they refer to rows that are there, and to no time after that of the world.
"""

from __future__ import annotations

import base64
from datetime import timedelta

from opsgym_domains.teams.graph import dumped
from opsgym_domains.teams.tables import (
    AttendanceRecord,
    AttendanceReport,
    Call,
    ChatMessage,
    CourseActivity,
    DayNote,
    DriveItem,
    FilesFolder,
    GalleryOperation,
    HoldMusic,
    HostedContent,
    InstalledApp,
    LearningProvider,
    Meeting,
    ResourceGrant,
    SharingSession,
    Team,
    TownHall,
    TownHallPresenter,
    Transcript,
    User,
)
from opsgym_suites.teams.seeds.description import Organisation
from opsgym_suites.teams.seeds.world import World, row_key

COURSES = ("First aid", "Fire safety", "Working with data")


def add_further_rows(plan: Organisation, world: World) -> None:
    """Adds the rows."""
    people = [user for user in world.all(User) if user.mail]
    _courses(plan, world, people)
    _meetings(plan, world)
    _calls(plan, world)
    _files(plan, world)
    for number, team in enumerate(world.all(Team)[:5]):
        time = plan.now - timedelta(days=number, hours=2)
        note = dumped({"contentType": "text", "content": f"Early start for {team.display_name}"})
        world.add(
            DayNote(
                org_id=plan.key,
                team_id=team.team_id,
                day_note_id=row_key(plan.key, "note", team.team_id),
                day_note_date=time.date(),
                shared_day_note=note,
                created_date_time=time,
                last_modified_date_time=time,
            )
        )


def _courses(plan: Organisation, world: World, people: list[User]) -> None:
    provider = row_key(plan.key, "provider")
    world.add(
        LearningProvider(
            learning_provider_id=provider,
            org_id=plan.key,
            display_name=plan.school,
            is_course_activity_sync_enabled=True,
            created_date_time=plan.founded,
            last_modified_date_time=plan.founded,
            soft_delete=False,
        )
    )
    for number, user in enumerate(people[:24]):
        time = plan.now - timedelta(days=3 * number + 1)
        world.add(
            CourseActivity(
                learning_course_activity_id=row_key(plan.key, "course", number),
                org_id=plan.key,
                learning_provider_id=provider,
                learner_user_id=user.user_id,
                learning_content_id=COURSES[number % 3],
                activity_type="Assignment",
                status=("notStarted", "inProgress", "completed")[number % 3],
                assignment_type="required",
                assigner_user_id=people[0].user_id,
                assigned_date_time=time,
                completion_percentage=(0, 40, 100)[number % 3],
                created_date_time=time,
                last_modified_date_time=time,
                soft_delete=False,
            )
        )


def _meetings(plan: Organisation, world: World) -> None:
    for number, meeting in enumerate(world.all(Meeting)[:8]):
        end = meeting.end_date_time or plan.now
        made = {"org_id": plan.key, "created_at": end, "updated_at": end}
        report = row_key(plan.key, "report", number)
        world.add(
            AttendanceReport(
                id=report,
                meeting_id=meeting.id,
                total_participant_count=1,
                meeting_start_date_time=meeting.start_date_time,
                meeting_end_date_time=end,
                **made,
            )
        )
        organizer = world.one(User, user_id=meeting.user_id)
        world.add(
            AttendanceRecord(
                id=row_key(plan.key, "attendance", number),
                report_id=report,
                email_address=organizer.mail,
                identity_id=organizer.user_id,
                display_name=organizer.display_name,
                total_attendance_in_seconds=600 + 60 * number,
                role="Organizer",
                attendance_intervals="[]",
                **made,
            )
        )
        world.add(
            Transcript(
                id=row_key(plan.key, "transcript", number),
                org_id=plan.key,
                meeting_id=meeting.id,
                created_date_time=end,
                end_date_time=end,
                content=f"{meeting.subject}: nothing was decided.",
                created_at=end,
                updated_at=end,
            )
        )


def _calls(plan: Organisation, world: World) -> None:
    for number, call in enumerate(world.all(Call)):
        made = {"org_id": plan.key, "call_id": call.id, "created_at": call.created_at, "updated_at": call.created_at}
        world.add(SharingSession(id=row_key(plan.key, "sharing", number), **made))
        world.add(GalleryOperation(id=row_key(plan.key, "gallery", number), status="completed", **made))
    for name in ("Calm", "Strings"):
        world.add(
            HoldMusic(
                config_id=row_key(plan.key, "music", name),
                org_id=plan.key,
                name=name,
                media_uri=f"https://{plan.host}/music/{name.lower()}.wav",
                is_active=name == "Calm",
            )
        )
    for hall in world.all(TownHall):
        world.add(
            TownHallPresenter(
                org_id=plan.key,
                townhall_id=hall.id,
                presenter_id=row_key(plan.key, "speaker", hall.id),
                identity_type="communicationsUserIdentity",
                identity_id=hall.created_by_user_id,
                display_name=hall.created_by_display_name,
                added_at=hall.created_at,
            )
        )


def _files(plan: Organisation, world: World) -> None:
    for folder in world.all(FilesFolder):
        world.add(
            DriveItem(
                drive_item_id=folder.drive_item_id,
                name=folder.name,
                size=folder.size,
                created_date_time=folder.created_date_time,
                last_modified_date_time=folder.last_modified_date_time,
                web_url=folder.web_url,
                drive_id=folder.drive_id,
                drive_type=folder.drive_type,
                child_count=folder.child_count,
                channel_files_folder_id=folder.channel_id,
            )
        )
    for number, message in enumerate(world.all(ChatMessage)[:6]):
        world.add(
            HostedContent(
                hosted_content_id=row_key(plan.key, "picture", number),
                message_id=message.message_id,
                chat_id=message.chat_id,
                content_type="image/png",
                content_bytes=base64.b64encode(f"picture {number}".encode()).decode(),
                created_datetime=message.created_datetime,
            )
        )
    for installed in world.all(InstalledApp):
        world.add(
            ResourceGrant(
                org_id=plan.key,
                grant_id=row_key(plan.key, "grant", installed.installation_id),
                resource_type="team",
                resource_id=installed.team_id,
                client_app_id=installed.teams_app_id,
                permission_type="Application",
                permission="TeamSettings.Read.Group",
                installation_id=installed.installation_id,
                created_date_time=installed.created_date_time,
                soft_deleted=False,
            )
        )
