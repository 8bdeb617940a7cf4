"""Both stores have the same guarantees; each reports its own errors with a remedy."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import boto3
import httpx
import pytest
from pydantic import SecretStr

from opsgym_api.errors import InputError
from opsgym_core.store.base import ErasableStore, Store, StoreError, write_once_problem
from opsgym_core.store.local import LocalStore
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access, S3Store

from .conftest import SECRET

MEGABYTE = 1024 * 1024


def test_an_object_reads_back_as_it_was_written(store: Store) -> None:
    content = bytes(range(256)) * 100
    store.put("runs/a/run.json", content)
    assert store.get("runs/a/run.json") == content


def test_an_empty_object_is_not_an_absent_one(store: Store) -> None:
    store.put("runs/empty", b"")
    assert store.get("runs/empty") == b""
    assert store.get("runs/absent") is None


def test_put_replaces(store: Store) -> None:
    store.put("control.json", b"one")
    store.put("control.json", b"two")
    assert store.get("control.json") == b"two"


@pytest.mark.parametrize(
    ("key", "kind"),
    [("report/index.html", "text/html; charset=utf-8"), ("report/trials/0.js", "text/javascript; charset=utf-8")],
)
def test_the_content_type_of_an_object_follows_its_name(key: str, kind: str, bucket: str) -> None:
    S3Store(bucket).put(key, b"page")
    assert boto3.client("s3").head_object(Bucket=bucket, Key=key)["ContentType"] == kind


def test_put_once_keeps_the_first_object(store: Store) -> None:
    assert store.put_once("cells/t/0.json", b"first") is True
    assert store.put_once("cells/t/0.json", b"second") is False
    assert store.get("cells/t/0.json") == b"first"


def test_put_once_keeps_an_object_written_by_put(store: Store) -> None:
    store.put("a", b"first")
    assert store.put_once("a", b"second") is False
    assert store.get("a") == b"first"


def test_objects_have_size_and_time_and_only_those_named_are_deleted(
    store: ErasableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_core.store.s3.MOST_DELETED", 3)  # instead of a thousand
    names = [f"runs/a/cells/{number}.json" for number in range(9)]
    for name in (*names, "runs/a.b/run.json"):
        store.put(name, b"12345")
    listed = list(store.objects("runs/a/"))
    assert [(one.key, one.size) for one in listed] == [(name, 5) for name in names]
    assert all(abs(datetime.now(UTC) - one.written_at) < timedelta(minutes=5) for one in listed)

    store.delete([*names[1:], "runs/a/absent"])

    assert list(store.keys("runs/")) == ["runs/a.b/run.json", names[0]]
    store.delete(names[:1])
    assert list(store.folders("runs")) == ["a.b"]


def test_a_deletion_that_the_credentials_do_not_allow_names_the_object_and_what_is_missing(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "<DeleteResult><Error><Key>team/runs/a/run.json</Key><Code>AccessDenied</Code></Error></DeleteResult>"
    with _refusing(200, "", refused) as endpoint:  # S3 answers for each object, under status 200
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
        with pytest.raises(StoreError, match=r"access runs/a/run\.json: .*the credentials need s3:DeleteObject"):
            S3Store("bucket", "team").delete(["runs/a/run.json"])


def test_keys_are_those_with_the_prefix_in_string_order(store: Store) -> None:
    for key in ("runs/b/run.json", "runs/a/run.json", "runs/a-1/run.json", "runs/a.b/cells/x/0.json", "other/z"):
        store.put(key, b"x")
    everything = ["runs/a-1/run.json", "runs/a.b/cells/x/0.json", "runs/a/run.json", "runs/b/run.json"]
    assert list(store.keys("runs/")) == everything
    assert list(store.keys("runs/a")) == everything[:3]
    assert list(store.keys("runs/a/")) == ["runs/a/run.json"]
    assert list(store.keys("runs/none/")) == []
    assert list(store.keys("")) == ["other/z", *everything]


def test_folders_are_listed_without_their_contents(store: Store) -> None:
    for key in ("runs/b/run.json", "runs/a/cells/x/0.json", "runs/a/cells/y/1/attempts/0.json", "runs/c", "other/z"):
        store.put(key, b"x")
    assert list(store.folders("runs")) == list(store.folders("runs/")) == ["a", "b"]
    assert list(store.folders("runs/a/cells")) == ["x", "y"]
    assert list(store.folders("runs/b")) == list(store.folders("none")) == list(store.folders("runs/c")) == []
    with pytest.raises(StoreError, match="a key is a relative path"):
        list(store.folders("../outside"))


def test_folders_span_pages(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    store = S3Store(bucket, "p")
    for number in range(25):
        store.put(f"runs/{number:04}/run.json", b"")
    assert list(store.folders("runs")) == [f"{number:04}" for number in range(25)]


def test_an_empty_store_has_no_keys(store: Store) -> None:
    assert list(store.keys("")) == []
    assert list(store.keys("runs/")) == []


def test_a_key_may_hold_every_character_of_task_ids_and_model_names(store: Store) -> None:
    key = "runs/q.1a2b/cells/gpt-5.1_react_plus_5_tools_itsm/task_1-x.y/0/attempts/0.json"
    store.put(key, b"{}")
    assert list(store.keys("runs/q.1a2b/cells/")) == [key]


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", ".hidden", "a/.tmp", "a\\b", "a\x00b"]
)
def test_a_key_that_could_leave_the_store_is_refused(store: Store, key: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: store.get(key),
        lambda: store.put(key, b"x"),
        lambda: store.put_once(key, b"x"),
    ]
    for attempt in attempts:
        with pytest.raises(StoreError, match="a key is a relative path"):
            attempt()
    assert list(store.keys("")) == []


def test_a_listing_does_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("x")
    with pytest.raises(StoreError, match="a key is a relative path"):
        list(LocalStore(tmp_path / "results").keys("../outside/"))


def test_a_listing_spans_pages(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    store = S3Store(bucket, "p")
    keys = [f"runs/{number:04}" for number in range(25)]
    for key in keys:
        store.put(key, b"")
    assert list(store.keys("runs/")) == keys


def _race(root: str, writer: int, start: Barrier, wins: Queue[int]) -> None:
    store = LocalStore(root)
    won = 0
    for number in range(50):
        start.wait(60)
        won += store.put_once(f"cells/{number}.json", str(writer).encode() * MEGABYTE)
    wins.put(won)


def test_of_several_processes_exactly_one_writes_an_object_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier, wins = context.Barrier(4), context.Queue()
    writers = [context.Process(target=_race, args=(str(tmp_path), number, barrier, wins)) for number in range(4)]
    for writer in writers:
        writer.start()
    try:
        won = [wins.get(timeout=120) for _ in writers]
    finally:
        for writer in writers:
            writer.join(10)
            writer.kill()
            writer.join()
    assert sum(won) == 50
    store = LocalStore(tmp_path)
    contents = [store.get(key) for key in store.keys("cells/")]
    assert len(contents) == 50
    assert all(content is not None and content == content[:1] * MEGABYTE for content in contents)


def test_nothing_but_the_object_remains_after_writing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("a/b", b"1")
    store.put_once("a/b", b"2")
    store.put_once("a/c", b"3")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]


def _python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A child process, so that a limit, a kill or another user do not touch the tests."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_process_killed_in_mid_write_leaves_nothing_that_can_be_read(tmp_path: Path) -> None:
    LocalStore(tmp_path).put("cells/a/0.json", b"whole")
    # Past the file size limit the kernel kills the writer, with the first 4096 bytes on disk.
    killed = _python(
        """
        import resource, signal, sys
        from opsgym_core.store.local import LocalStore
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        LocalStore(sys.argv[1]).put("cells/a/0.json", b"half" * 100_000)
        """,
        str(tmp_path),
    )
    assert killed.returncode == -signal.SIGXFSZ, killed.stderr
    assert [path.stat().st_size for path in (tmp_path / "cells/a").glob(".*")] == [4096]
    store = LocalStore(tmp_path)
    assert list(store.keys("")) == ["cells/a/0.json"]
    assert store.get("cells/a/0.json") == b"whole"


@pytest.mark.parametrize("method", ["put", "put_once"])
def test_a_full_store_is_reported_and_keeps_no_part_of_the_object(tmp_path: Path, method: str) -> None:
    failed = _python(
        """
        import resource, sys
        from opsgym_core.store.base import StoreError
        from opsgym_core.store.local import LocalStore
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            getattr(LocalStore(sys.argv[1]), sys.argv[2])("cells/a/0.json", b"much" * 100_000)
        except StoreError as error:
            print(error)
        """,
        str(tmp_path),
        method,
    )
    assert failed.stdout.startswith(f"{tmp_path}: cannot access cells/a/0.json: the file is larger than"), failed.stderr
    assert list((tmp_path / "cells/a").iterdir()) == []


def test_a_full_disk_is_named_with_the_remedy(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with (
        pytest.raises(StoreError, match="the disk is full; free space or name another store"),
        store._access("cells/a/0.json"),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")


def test_a_read_only_folder_is_named_with_the_remedy() -> None:
    root = Path(tempfile.mkdtemp(prefix="opsgym-readonly-"))
    try:
        root.chmod(0o555)
        refused = _python(
            """
            import os, sys
            from opsgym_core.store.base import StoreError
            from opsgym_core.store.local import LocalStore
            if os.geteuid() == 0:
                os.setuid(65534)  # permissions do not bind root
            store = LocalStore(sys.argv[1])
            for method in (store.put, store.put_once):
                try:
                    method("runs/a/run.json", b"{}")
                except StoreError as error:
                    print(error)
            """,
            str(root),
        )
        expected = f"{root}: cannot access runs/a/run.json: permission denied; make the folder writable"
        assert [line.startswith(expected) for line in refused.stdout.splitlines()] == [True, True], refused
        assert list(root.iterdir()) == []
    finally:
        root.rmdir()


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("a", b"x")
    with pytest.raises(StoreError, match="a file stands where a folder is needed"):
        store.put("a/b", b"x")
    assert store.get("a/b") is None


def test_files_follow_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        LocalStore(tmp_path).put("a", b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


def test_open_store_knows_folders_and_buckets(tmp_path: Path, bucket: str) -> None:
    folder = open_store(str(tmp_path / "new"))
    assert isinstance(folder.inner, LocalStore)
    assert folder.name == str(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    remote = open_store(f"s3://{bucket}/some/prefix/")
    assert isinstance(remote.inner, S3Store)
    assert remote.name == f"s3://{bucket}/some/prefix"
    remote.put("k", b"x")
    assert list(S3Store(bucket).keys("")) == ["some/prefix/k"]


def test_the_settings_of_a_bucket_override_the_environment(
    s3_endpoint: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/wrong")
    access = S3Access(s3_endpoint, "us-east-1", "access-key-that-must-not-be-printed", SecretStr(SECRET))
    store = open_store(f"s3://{bucket}/p", access)
    assert store.put_once("k", b"x") is True
    assert store.put_once("k", b"y") is False
    assert SECRET not in repr(access)


def test_half_of_a_key_pair_is_refused_without_the_half(s3_endpoint: str) -> None:
    with pytest.raises(InputError) as caught:
        open_store("s3://bucket", S3Access(s3_endpoint, secret_access_key=SecretStr(SECRET)))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("", "is empty"),
        ("gs://bucket/x", "unknown kind of store gs://; give s3://BUCKET/PREFIX or a folder"),
        ("s3://", "names no bucket"),
        ("s3:///prefix", "names no bucket"),
        ("s3://bucket/../x", "is not a path of plain names"),
    ],
)
def test_an_invalid_store_location_is_refused(location: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        open_store(location)


def test_a_file_as_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; give a folder"):
        open_store(str(tmp_path / "file"))


def test_a_bad_endpoint_is_bad_input(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://user:pass word@@")
    with pytest.raises(InputError, match="check AWS_ENDPOINT_URL_S3") as caught:
        open_store("s3://bucket")
    assert "pass" not in str(caught.value)


def _s3_calls(store: S3Store) -> list[Callable[[], object]]:
    return [
        lambda: store.get("k"),
        lambda: store.put("k", b"x"),
        lambda: store.put_once("k", b"x"),
        lambda: list(store.keys("")),
        lambda: list(store.objects("")),
        lambda: store.delete(["k"]),
    ]


def test_a_missing_bucket_is_named_with_the_remedy(s3_endpoint: str) -> None:
    for call in _s3_calls(S3Store("no-such-bucket", "p")):
        with pytest.raises(StoreError, match=r"s3://no-such-bucket/p: .* the bucket does not exist; create it"):
            call()


def test_a_server_out_of_reach_is_named_without_its_credentials(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://user:{SECRET}@127.0.0.1:{port}")
    monkeypatch.setenv("AWS_RETRY_MODE", "standard")
    with pytest.raises(StoreError, match="check AWS_ENDPOINT_URL_S3 and the network") as caught:
        S3Store("bucket").put("k", b"x")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_missing_credentials_are_named(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(StoreError, match="no credentials found; set AWS_ACCESS_KEY_ID"):
        S3Store("bucket").put("k", b"x")


@contextmanager
def _refusing(status: int, code: str, answer: str = "") -> Iterator[str]:
    """An S3 server that refuses everything, with an answer or a message that repeats what it was sent."""

    class Refusal(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # answers `Expect: 100-continue`, for which clients otherwise wait a second

        def _refuse(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            message = f"{self.headers['Authorization']} {SECRET}"
            body = answer or f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_PUT = do_POST = _refuse  # noqa: N815 - http.server looks these names up

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (403, "AccessDenied", "the credentials need list, get and put"),
        (403, "SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY"),
        (403, "QuotaExceeded", "the bucket's quota is used up; free space"),
        (400, "ExpiredToken", "sign in again"),
        (507, "Full", "the server is full; free space"),
        (409, "OperationAborted", "the server refused the request"),
    ],
)
def test_a_refusal_is_named_by_code_and_status_and_never_with_the_keys(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, status: int, code: str, advice: str
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with _refusing(status, code) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
        for call in _s3_calls(S3Store("bucket")):
            with pytest.raises(StoreError, match=rf"{advice}.* \({code}, HTTP {status}\)") as caught:
                call()
            text = "".join(traceback.format_exception(caught.value))
            assert SECRET not in text
            assert "access-key-that" not in text


@dataclass
class Faulty:
    """An S3 server in front of the tests' own: it plays a fault for requests whose method and key match, some times."""

    method: str
    fault: tuple[int, str] | str
    """Status and code of an error; `cut` for a body that ends early; `plain` for a write that ignores its condition."""
    times: int
    before_fault: Callable[[], object] = lambda: None
    requests: int = 0
    """Requests that matched."""

    @contextmanager
    def serving(self, upstream: str) -> Iterator[str]:
        outer = self

        class Proxy(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                matches = self.command == outer.method
                outer.requests += matches
                faulty = matches and outer.requests <= outer.times
                if faulty:
                    outer.before_fault()
                if faulty and isinstance(outer.fault, tuple):
                    status, code = outer.fault
                    return self._answer(status, f"<Error><Code>{code}</Code><Message>m</Message></Error>".encode())
                unsent = {"host", "if-none-match"} if faulty and outer.fault == "plain" else {"host"}
                headers = {name: value for name, value in self.headers.items() if name.lower() not in unsent}
                answer = httpx.request(self.command, f"{upstream}{self.path}", headers=headers, content=content)
                if faulty and outer.fault == "cut":
                    self.close_connection = True
                    return self._answer(answer.status_code, answer.content[:-1], cut=1)
                return self._answer(answer.status_code, answer.content)

            def _answer(self, status: int, body: bytes, cut: int = 0) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) + cut))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = _pass_on  # noqa: N815 - http.server looks these names up

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}"
            finally:
                server.shutdown()
                thread.join()


@pytest.fixture
def faulty(s3_endpoint: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Faulty], S3Store]]:
    """Opens the tests' bucket behind a server with a fault; nothing waits."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with ExitStack() as servers:
        yield lambda fault: S3Store(bucket, "p", S3Access(servers.enter_context(fault.serving(s3_endpoint))))


CONFLICTS = [(409, "ConditionalRequestConflict"), (409, "OperationAborted")]


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_a_conflict_of_conditional_writes_is_repeated_while_the_object_is_absent(
    faulty: Callable[[Faulty], S3Store], conflict: tuple[int, str]
) -> None:
    store = faulty(Faulty("PUT", conflict, times=3))
    assert store.put_once("k", b"mine") is True
    assert store.get("k") == b"mine"


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_a_conflict_with_a_writer_that_won_keeps_its_object(
    faulty: Callable[[Faulty], S3Store], bucket: str, conflict: tuple[int, str]
) -> None:
    other = S3Store(bucket, "p")
    store = faulty(Faulty("PUT", conflict, times=1, before_fault=lambda: other.put("k", b"theirs")))
    assert store.put_once("k", b"mine") is False
    assert store.get("k") == b"theirs"


def test_a_conflict_without_end_is_an_error_and_not_an_object(faulty: Callable[[Faulty], S3Store]) -> None:
    store = faulty(Faulty("PUT", CONFLICTS[0], times=1000))
    with pytest.raises(StoreError, match=r"repeat later \(ConditionalRequestConflict, HTTP 409\)"):
        store.put_once("k", b"mine")


def test_an_answer_that_breaks_off_is_requested_again(faulty: Callable[[Faulty], S3Store]) -> None:
    store = faulty(Faulty("GET", "cut", times=2))
    store.put("k", b"content")
    assert store.get("k") == b"content"
    broken = faulty(Faulty("GET", "cut", times=1000))
    with pytest.raises(StoreError, match="cannot access k"):
        broken.get("k")


@pytest.mark.parametrize("busy", [(503, "SlowDown"), (503, ""), (429, "TooManyRequests"), (500, "InternalError")])
def test_a_busy_server_is_asked_for_longer_than_boto3_does(
    faulty: Callable[[Faulty], S3Store], busy: tuple[int, str]
) -> None:
    times = 5 if busy[0] == 429 else 10  # which boto3 does not repeat
    store = faulty(Faulty("PUT", busy, times))
    assert store.put_once("k", b"x") is True
    reader = faulty(Faulty("GET", busy, times))
    assert reader.get("k") == b"x"
    lister = faulty(Faulty("GET", busy, times))
    assert list(lister.keys("")) == ["k"]


@pytest.mark.parametrize("code", ["RequestTimeTooSkewed", "RequestExpired"])
def test_a_wrong_clock_is_named_with_the_remedy(faulty: Callable[[Faulty], S3Store], code: str) -> None:
    with pytest.raises(StoreError, match="this machine's clock differs from the server's by too much; set it"):
        faulty(Faulty("PUT", (403, code), times=1000)).put("k", b"x")


def test_a_store_that_ignores_or_refuses_conditions_is_named(faulty: Callable[[Faulty], S3Store], store: Store) -> None:
    assert write_once_problem(store, "probe") == ""
    ignoring = write_once_problem(faulty(Faulty("PUT", "plain", times=1000)), "probe")
    assert ignoring.startswith("ignores conditional writes; results could be overwritten: use a store that honours")
