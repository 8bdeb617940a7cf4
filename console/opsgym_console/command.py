"""The command `serve`: its options and help.

Invariant: importing this module costs no more than click does, so that the command line can show it in its help.
"""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("serve")
@click.option(
    "--store", default="./results", show_default=True, metavar="DIR|s3://BUCKET/PREFIX",
    help="Store whose runs are shown.",
)  # fmt: skip
@click.option(
    "--config", type=_FILE, metavar="FILE",
    help="In a cluster: configuration written by the chart, with all stores and the namespaces of EvalRuns.",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--token-file", type=_FILE, metavar="FILE",
    help="File with the token for signing in. The variable OPSGYM_CONSOLE_TOKEN may contain it instead.",
)  # fmt: skip
@click.option(
    "--trust-header", metavar="NAME",
    help="Header in which a sign-in proxy names the user, for instance X-Forwarded-User of oauth2-proxy.",
)  # fmt: skip
@click.option(
    "--trusted-proxies", multiple=True, metavar="CIDR",
    help="Addresses of that proxy; the header is ignored in requests from elsewhere. May be repeated.",
)  # fmt: skip
def serve_command(
    store: str, config: Path | None, host: str, port: int, token_file: Path | None, trust_header: str | None,
    trusted_proxies: tuple[str, ...],
) -> int:  # fmt: skip
    """Show runs in a browser, live: a list of all runs, and the page of `opsgym report` for each.

    The console is read-only. On 127.0.0.1 no sign-in is required; on other addresses, choose how users sign in:

    \b
      opsgym serve                                        runs of ./results, for this machine
      opsgym serve --store s3://evals/opsgym              runs of a bucket
      opsgym serve --host 0.0.0.0 --token-file token      for users who have the token
      opsgym serve --host 0.0.0.0 --trust-header X-Forwarded-User --trusted-proxies 10.0.0.0/8
                                                          for users signed in by a proxy at that address

    Programs read /api/runs and /api/runs/RUN/page with the header `Authorization: Bearer TOKEN`.
    """
    from opsgym_console.serve import ServeOptions, serve

    serve(ServeOptions(store, config, host, port, token_file, trust_header, trusted_proxies))
    return 0
