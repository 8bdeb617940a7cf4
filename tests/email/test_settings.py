"""Settings of a mailbox: automatic reply, IMAP, POP, language, filters, addresses, certificates, keys, delegates."""

from __future__ import annotations

import json

import pytest
from tests.email.examples import EXAMPLES
from tests.support.gym import GymDatabase

CRITERIA = EXAMPLES["create_filter"]["criteria"]


def test_settings_that_no_one_has_set_have_the_defaults_of_the_api(mail: GymDatabase) -> None:
    cat = {"userId": "cat@south.test"}
    assert mail.call_with("get_auto_forwarding", cat).data == {"enabled": False}
    assert mail.call_with("get_language_settings", cat).data == {"displayLanguage": "en"}
    assert mail.call_with("get_pop_settings", cat).data == {"accessWindow": "disabled", "disposition": "leaveInInbox"}
    assert mail.call_with("get_imap_settings", cat).data["enabled"] is True
    assert mail.call_with("get_vacation_settings", cat).data["enableAutoReply"] is False


def test_a_mailbox_has_one_row_of_each_setting(mail: GymDatabase) -> None:
    for language in ("fr", "de"):
        mail.call("update_language_settings", userId="cat@south.test", displayLanguage=language)
    rows = mail.rows("SELECT display_language FROM language_settings WHERE user_id = 'u3'")
    assert rows == [{"display_language": "de"}]


def test_an_automatic_reply_is_shown_as_it_was_set(mail: GymDatabase) -> None:
    given = {**EXAMPLES["update_vacation_settings"], "startTime": "1772323200000", "endTime": "1772928000000"}
    assert mail.call_with("update_vacation_settings", given).data == {
        name: value for name, value in given.items() if name != "userId"
    }
    row = mail.rows("SELECT start_time, end_time FROM vacation_settings WHERE user_id = 'u1'")
    assert row == [{"start_time": "2026-03-01 00:00:00", "end_time": "2026-03-08 00:00:00"}]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"responseSubject": "", "responseBodyPlainText": ""}, "RESPONSE_MISSING"),
        ({"startTime": "2026-03-10T00:00:00Z"}, "INVALID_PERIOD"),
        ({"startTime": "soon"}, "INVALID_DATE"),
    ],
)
def test_an_automatic_reply_needs_a_text_and_a_period(mail: GymDatabase, changed: dict[str, str], code: str) -> None:
    assert mail.call_with("update_vacation_settings", {**EXAMPLES["update_vacation_settings"], **changed}).code == code


@pytest.mark.parametrize("size", ["many", "-1", "1.5", "99999999999999999999"])
def test_a_size_of_a_folder_is_a_number(mail: GymDatabase, size: str) -> None:
    assert mail.call_with("update_imap_settings", {**EXAMPLES["update_imap_settings"], "maxFolderSize": size}).is_error


# --- forwarding and filters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["far@away.test", "ghost@north.test"])
def test_mail_is_forwarded_to_verified_addresses_only(mail: GymDatabase, address: str) -> None:
    code = "FORWARDING_ADDRESS_NOT_VERIFIED"
    setting = {**EXAMPLES["update_auto_forwarding"], "emailAddress": address}
    assert mail.call_with("update_auto_forwarding", setting).code == code
    assert mail.call("create_filter", userId="me", criteria=CRITERIA, action={"forward": address}).code == code


def test_an_address_in_use_is_not_removed(mail: GymDatabase) -> None:
    mail.call_with("update_auto_forwarding", EXAMPLES["update_auto_forwarding"])
    refused = mail.call("delete_forwarding_address", userId="me", forwardingEmail="ben@north.test")
    assert refused.code == "FORWARDING_ADDRESS_IN_USE"


def test_a_forwarding_address_of_the_own_domain_is_verified(mail: GymDatabase) -> None:
    def status(address: str) -> str:
        made = mail.call("create_forwarding_address", userId="me", forwardingEmail=address).data
        return str(made["verificationStatus"])

    assert (status("x@north.test"), status("x@other.test")) == ("accepted", "pending")
    again = mail.call("create_forwarding_address", userId="me", forwardingEmail="X@north.test")
    assert again.code == "FORWARDING_ADDRESS_EXISTS"


def test_a_filter_keeps_its_criteria_and_names_labels_by_id(mail: GymDatabase) -> None:
    action = {"addLabelIds": ["STARRED", "work-u1"], "removeLabelIds": ["INBOX"]}
    made = mail.call("create_filter", userId="me", criteria=CRITERIA, action=action).data
    row = mail.rows(f"SELECT criteria_json, action_json FROM filters WHERE id = '{made['id']}'")[0]
    assert json.loads(row["criteria_json"]) == CRITERIA
    assert json.loads(row["action_json"]) == {"addLabelIds": ["starred-u1", "work-u1"], "removeLabelIds": ["inbox-u1"]}
    assert mail.call("get_filter", userId="me", id=made["id"]).data["action"] == action
    refused = mail.call("create_filter", userId="me", criteria=CRITERIA, action={"addLabelIds": ["work-u2"]})
    assert refused.code == "INVALID_LABEL"


@pytest.mark.parametrize("name", ["from", "to", "subject", "query", "negatedQuery"])
def test_a_filter_needs_each_of_its_criteria(mail: GymDatabase, name: str) -> None:
    rest = {key: value for key, value in CRITERIA.items() if key != name}
    refused = mail.call("create_filter", userId="me", criteria=rest, action={})
    assert refused.text == f"❌ Invalid Tool Arguments: ['criteria.{name}: is required']"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "expected type 'string', got 'null'"),
        (7, "expected type 'string', got 'number'"),
        (["a"], "expected type 'string', got 'array'"),
    ],
)
def test_a_criterion_of_another_type_is_refused_in_the_published_words(
    mail: GymDatabase, value: object, problem: str
) -> None:
    refused = mail.call("create_filter", userId="me", criteria={**CRITERIA, "to": value}, action={})
    assert refused.is_error
    assert refused.text == f"❌ Invalid Tool Arguments: {[f'criteria.to: {problem}']}"


def test_a_filter_with_a_search_that_is_too_long_is_refused(mail: GymDatabase) -> None:
    refused = mail.call("create_filter", userId="me", criteria={**CRITERIA, "query": "x" * 2000}, action={})
    assert refused.code == "QUERY_TOO_LONG"


# --- aliases, certificates, keys -----------------------------------------------------------------------------------


def test_a_new_alias_waits_for_its_verification(mail: GymDatabase) -> None:
    made = mail.call_with("create_send_as_alias", EXAMPLES["create_send_as_alias"]).data
    assert (made["verificationStatus"], made["isPrimary"], made["isDefault"]) == ("pending", False, False)
    assert "password" not in json.dumps(made)
    stored = json.loads(mail.value("SELECT smtp_msa FROM send_as_aliases WHERE send_as_email = 'hr@north.test'"))
    assert stored["password"].startswith("enc_")
    verified = mail.call("verify_send_as_alias", userId="me", sendAsEmail="hr@north.test").data
    assert verified["verificationStatus"] == "accepted"
    assert mail.call("verify_send_as_alias", userId="me", sendAsEmail="hr@north.test").code == "NOT_PENDING"


def test_a_mailbox_has_one_default_alias(mail: GymDatabase) -> None:
    defaults = "SELECT group_concat(id) FROM send_as_aliases WHERE user_id = 'u1' AND is_default"
    mail.call("patch_send_as_alias", userId="me", sendAsEmail="sales@north.test", isDefault=True)
    assert mail.value(defaults) == "s2"
    refused = mail.call("patch_send_as_alias", userId="me", sendAsEmail="sales@north.test", isDefault=False)
    assert refused.code == "DEFAULT_NEEDED"
    mail.call("delete_send_as_alias", userId="me", sendAsEmail="sales@north.test")
    assert mail.value(defaults) == "s1"
    assert mail.call("delete_send_as_alias", userId="me", sendAsEmail="ann@north.test").code == "PRIMARY_ALIAS"


def test_an_alias_has_one_default_certificate_and_shows_no_key(mail: GymDatabase) -> None:
    alias = {"userId": "me", "sendAsEmail": "ann@north.test"}
    mail.call("set_default_smime_config", **alias, id="c2")
    assert mail.value("SELECT group_concat(id) FROM smime_info WHERE is_default") == "c2"
    added = mail.call_with("insert_smime_config", {**EXAMPLES["insert_smime_config"], "encryptedKeyPassword": "secret"})
    assert "secret" not in added.text
    assert "pkcs12" not in added.text
    assert mail.value("SELECT count(*) FROM smime_info WHERE encrypted_key_password LIKE 'enc_%'") == 1
    assert mail.call("get_smime_config", userId="me", sendAsEmail="sales@north.test", id="c1").code == "NOT_FOUND"


def test_keys_of_an_identity_are_enabled_ones_of_the_mailbox(mail: GymDatabase) -> None:
    for key in ("kp_2", "kp_none"):
        refused = mail.call("create_cse_identity", userId="me", emailAddress="sales@north.test", primaryKeyPairId=key)
        assert refused.code == "INVALID_KEY_PAIR"
    stranger = mail.call("create_cse_identity", userId="me", emailAddress="x@y.test", primaryKeyPairId="kp_1")
    assert stranger.code == "INVALID_ADDRESS"
    again = mail.call("create_cse_identity", userId="me", emailAddress="ann@north.test", primaryKeyPairId="kp_1")
    assert again.code == "IDENTITY_EXISTS"


def test_an_identity_changes_from_one_key_pair_to_two(mail: GymDatabase) -> None:
    pairs = {"signingKeyPairId": "kp_1", "encryptionKeyPairId": "kp_3"}
    changed = mail.call(
        "patch_cse_identity", userId="me", emailAddress="ann@north.test", signAndEncryptKeyPairs=pairs
    ).data
    assert changed == {"emailAddress": "ann@north.test", "signAndEncryptKeyPairs": pairs}
    columns = "primary_key_pair_id, signing_key_pair_id, encryption_key_pair_id"
    assert mail.rows(f"SELECT {columns} FROM cse_identities WHERE id = 'ci1'") == [
        {"primary_key_pair_id": None, "signing_key_pair_id": "kp_1", "encryption_key_pair_id": "kp_3"}
    ]


def test_a_key_pair_is_deleted_30_days_after_it_was_turned_off(mail: GymDatabase) -> None:
    off = mail.call("email_disable_cse_keypair", userId="me", keyPairId="kp_1").data
    assert (off["enablementState"], off["disableTime"]) == ("disabled", "2026-03-02T12:00:00")
    assert mail.call("email_disable_cse_keypair", userId="me", keyPairId="kp_1").code == "ALREADY_DISABLED"
    code = "NOT_DISABLED_LONG_ENOUGH"
    assert mail.call("email_obliterate_cse_keypair", userId="me", keyPairId="kp_1").code == code
    assert not mail.call("email_obliterate_cse_keypair", userId="me", keyPairId="kp_2").is_error
    mail.set_clock("2026-04-02T12:00:00")
    assert not mail.call("email_obliterate_cse_keypair", userId="me", keyPairId="kp_1").is_error
    assert mail.value("SELECT count(*) FROM cse_private_key_metadata") == 0


def test_a_new_key_pair_names_where_its_private_key_is(mail: GymDatabase) -> None:
    where = [{"kaclsKeyMetadata": {"kaclsUri": "https://keys.test", "kaclsData": "abc"}}]
    example = EXAMPLES["email_create_cse_keypair"]
    made = mail.call_with("email_create_cse_keypair", {**example, "privateKeyMetadata": where}).data
    assert made["keyPairId"].startswith("kp_")
    (metadata,) = made["privateKeyMetadata"]
    assert metadata["kaclsKeyMetadata"] == where[0]["kaclsKeyMetadata"]
    assert mail.call("email_create_cse_keypair", userId="me", pkcs7="none").code == "INVALID_CERTIFICATE"


def test_a_delegate_is_another_user_once(mail: GymDatabase) -> None:
    def add(address: str) -> str:
        return mail.call("email_create_delegate", userId="me", delegateEmail=address).code

    assert add("ghost@north.test") == add("ann@north.test") == "INVALID_DELEGATE"
    assert add("BEN@north.test") == "DELEGATE_EXISTS"
    made = mail.call("email_create_delegate", userId="me", delegateEmail="dan@north.test").data
    assert made == {"delegateEmail": "dan@north.test", "verificationStatus": "accepted"}
