# The images of opsgym: `docker build --target operator|runner|domains|console .`, or `make images` for all of them.
#
# Any base with Python 3.11 or newer does; nothing here needs more of it than /bin/sh. Steps are in exec form and written
# in Python, so that a base without a package manager and common tools is enough. Build tools stay in the build stages.
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE_IMAGE} AS build
# Where packages come from is the builder's business; see tools/image/install.py.
ARG UV_DEFAULT_INDEX
ARG PIP_INDEX_URL
ENV UV_CACHE_DIR=/var/cache/uv
WORKDIR /src
COPY tools/get_uv.py tools/get_uv.py
COPY tools/image/install.py tools/image/install.py
RUN --mount=type=secret,id=certificates ["python3", "tools/image/install.py", "uv", "-"]
COPY pyproject.toml uv.lock LICENSE ./
COPY agent_runner/pyproject.toml agent_runner/
COPY cli/pyproject.toml cli/
COPY crds/pyproject.toml crds/
COPY core/pyproject.toml core/
COPY console/pyproject.toml console/
COPY domain_images/pyproject.toml domain_images/
COPY operator/pyproject.toml operator/
COPY suites/pyproject.toml suites/

FROM build AS operator-dependencies
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "dependencies", "operator"]

FROM build AS runner-dependencies
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "dependencies", "runner"]

FROM build AS domains-dependencies
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "dependencies", "domains"]

FROM build AS console-dependencies
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "dependencies", "console"]

FROM build AS operator-code
COPY crds/opsgym_api crds/opsgym_api
COPY core/opsgym_core core/opsgym_core
COPY operator/opsgym_operator operator/opsgym_operator
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "code", "operator"]

FROM build AS runner-code
COPY crds/opsgym_api crds/opsgym_api
COPY core/opsgym_core core/opsgym_core
COPY agent_runner/opsgym_runner agent_runner/opsgym_runner
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "code", "runner"]

FROM build AS domains-code
COPY crds/opsgym_api crds/opsgym_api
COPY core/opsgym_core core/opsgym_core
COPY domain_images/opsgym_domains domain_images/opsgym_domains
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "code", "domains"]

FROM build AS console-code
COPY crds/opsgym_api crds/opsgym_api
COPY core/opsgym_core core/opsgym_core
COPY console/opsgym_console console/opsgym_console
RUN --mount=type=secret,id=certificates --mount=type=cache,target=/var/cache/uv \
    ["python3", "tools/image/install.py", "code", "console"]

FROM ${BASE_IMAGE} AS runtime
COPY --from=build /out/etc/passwd /out/etc/group /etc/
# The root file system is read-only and /tmp a volume. What is compiled is in the image; nothing else is to be written.
ENV PATH=/opt/opsgym/bin:/usr/local/bin:/usr/bin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /
USER 10001:10001
ENTRYPOINT ["python", "-m"]
LABEL org.opencontainers.image.vendor="opsgym" org.opencontainers.image.licenses="Apache-2.0"

FROM runtime AS operator
LABEL org.opencontainers.image.title="opsgym-operator" \
      org.opencontainers.image.description="Turns EvalRuns into task pods and scores"
COPY --from=operator-dependencies /opt/opsgym /opt/opsgym
COPY --from=operator-code /opt/opsgym-code /opt/opsgym-code
CMD ["opsgym_operator"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"

FROM runtime AS runner
LABEL org.opencontainers.image.title="opsgym-runner" \
      org.opencontainers.image.description="Runs one episode: model, tools, verifiers, record"
COPY --from=runner-dependencies /opt/opsgym /opt/opsgym
COPY --from=runner-code /opt/opsgym-code /opt/opsgym-code
CMD ["opsgym_runner"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"

FROM runtime AS domains-installed
COPY --from=domains-dependencies /opt/opsgym /opt/opsgym
COPY --from=domains-code /opt/opsgym-code /opt/opsgym-code

FROM domains-installed AS domains-data
USER 0:0
RUN ["python", "-c", "import os; os.mkdir('/var/lib/opsgym', 0o755); os.chown('/var/lib/opsgym', 10001, 10001)"]
USER 10001:10001
RUN ["python", "-m", "opsgym_domains.postgres", "bake", "/var/lib/opsgym/postgres"]

FROM domains-installed AS domains
LABEL org.opencontainers.image.title="opsgym-domains" \
      org.opencontainers.image.description="Domain servers, and the Postgres that they start from"
COPY --from=domains-data --chown=10001:10001 /var/lib/opsgym /var/lib/opsgym
# Postgres' fast shutdown: it does not wait for clients. Servers end by it as by SIGTERM.
STOPSIGNAL SIGINT
CMD ["opsgym_domains.serve", "--help"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"

FROM runtime AS console
LABEL org.opencontainers.image.title="opsgym-console" \
      org.opencontainers.image.description="Shows runs in a browser"
COPY --from=console-dependencies /opt/opsgym /opt/opsgym
COPY --from=console-code /opt/opsgym-code /opt/opsgym-code
CMD ["opsgym_console", "--help"]
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"
