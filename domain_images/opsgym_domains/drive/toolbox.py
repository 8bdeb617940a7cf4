"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox

_IDS = {
    "fileId": "File or folder (file id)",
    "driveId": "Shared drive (drive id)",
    "teamDriveId": "Shared drive (drive id)",
    "team_drive_id": "Shared drive (drive id)",
    "commentId": "Comment (comment id)",
    "replyId": "Reply (reply id)",
    "revisionId": "Revision (revision id)",
    "permissionId": "Permission (permission id)",
    "proposalId": "Access proposal (proposal id)",
    "appId": "Application (app id)",
    "resourceId": "Watched resource, as the channel reports it",
}
_LISTS = {
    "pageSize": "Largest number of results of a page",
    "maxResults": "Largest number of results of a page",
    "pageToken": "nextPageToken of the page before",
    "q": "Search, for instance name contains 'plan' and trashed = false",
    "includeDeleted": "Whether deleted ones are included, without their content",
    "includeLabels": "Ids of labels, separated by commas, whose values labelInfo shows",
    "includePermissionsForView": "Further view whose permissions are included: published",
    "includeItemsFromAllDrives": "Whether items of shared drives are included",
    "includeRemoved": "Whether removed items are included",
    "includeCorpusRemovals": "Has no effect",
    "restrictToMyDrive": "Whether items of shared drives are left out",
    "spaces": "Spaces to look in: drive",
    "corpora": "Where to look: user, domain, drive or allDrives",
}
_SETTINGS = {
    "supportsAllDrives": "Has no effect: shared drives are always supported",
    "supportsTeamDrives": "Has no effect: shared drives are always supported",
    "acknowledgeAbuse": "Has no effect",
    "useDomainAdminAccess": "Whether to act as administrator of the domain",
    "use_domain_admin_access": "Whether to act as administrator of the domain",
    "enforceExpansiveAccess": "Has no effect",
    "ignoreDefaultVisibility": "Has no effect",
    "keepRevisionForever": "Whether the first revision is kept for good",
    "ocrLanguage": "Has no effect: no text is recognised in pictures",
    "uploadType": "Has no effect: no content is uploaded",
    "useContentAsIndexableText": "Has no effect",
    "sendNotification": "Has no effect: nothing is sent",
    "sendNotificationEmail": "Whether the grantee is notified; nothing is sent",
    "emailMessage": "Text of the notification",
    "kind": "Has no effect",
    "allowItemDeletion": "Whether items outside the trash are deleted too; needs useDomainAdminAccess",
}
_FILES = {
    "parents": "Folder of the file: one folder id, the id of a shared drive, or root",
    "addParents": "Folder to which the file moves (folder id)",
    "removeParents": "Folders that the file leaves (folder ids, separated by commas)",
    "appProperties": "Properties of the app: texts by key; null removes one",
    "mimeType": "MIME type",
    "properties": "Properties: texts by key; null removes one",
    "permissions": "Permissions of the new file besides the owner's, each with role, type and emailAddress or domain",
    "permissionIds": "Has no effect",
    "contentRestrictions": "Has no effect",
    "readOnly": "Has no effect",
    "contentRestrictions.reason": "Has no effect",
    "ownerRestricted": "Has no effect",
    "systemRestricted": "Has no effect",
    "copyRequiresWriterPermission": "Has no effect: shared drives restrict copies as a whole",
    "contentHints": "Content of the file",
    "indexableText": "Text of the file, at most 131,072 bytes",
    "thumbnail": "Has no effect",
    "folderColorRgb": "Has no effect",
    "shortcutDetails": "What a shortcut points to",
    "targetId": "File that the shortcut points to (file id)",
    "inheritedPermissionsDisabled": "Has no effect: permissions of folders always hold below them",
    "downloadRestrictions": "Has no effect",
    "restricted": "Has no effect",
    "downloadRestrictions.reason": "Has no effect",
}
_DRIVES = {
    "requestId": "Text of your choice that names this request; a second one is refused",
    "theme_id": "Theme of the shared drive",
    "backgroundImageFile": "Picture for the background",
    "background_image_file": "Picture for the background",
    "backgroundImageFile.id": "Picture (file id)",
    "background_image_file.id": "Picture (file id)",
    "xCoordinate": "Left edge of the section, as a share of the picture's width",
    "yCoordinate": "Upper edge of the section, as a share of the picture's height",
    "x_coordinate": "Left edge of the section, as a share of the picture's width",
    "y_coordinate": "Upper edge of the section, as a share of the picture's height",
    "width": "Width of the section, as a share of the picture's width",
    "restrictions": "Restrictions of the shared drive",
    "adminManagedRestrictions": "Whether only administrators change the restrictions",
    "restrictions.copyRequiresWriterPermission": "Whether readers cannot copy or download",
    "domainUsersOnly": "Whether only users of the domain get access",
    "driveMembersOnly": "Whether only members of the shared drive get access",
}
WORDS = {**_IDS, **_LISTS, **_SETTINGS, **_FILES, **_DRIVES}
"""Descriptions of arguments that no column describes."""

TOOLBOX = Toolbox(read_shapes("opsgym_domains.drive"), WORDS)
tool = TOOLBOX.tool
