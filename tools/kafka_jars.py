"""Apache Kafka's published jars, fetched once with Maven: tools and clients for tests, a broker to compare.

`class_path(folder)` and `client_jars(folder, version)` fetch on the first call and answer from `folder`
afterwards. They need `mvn` on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

KAFKA_VERSION = "4.4.0"


def _dependencies(version: str) -> list[str]:
    before_4 = version.startswith("3.")
    slf4j = "1.7.36" if before_4 else "2.0.17"
    return [
        f"org.apache.kafka:kafka_2.13:{version}",
        f"org.apache.kafka:kafka-tools:{version}",
        f"org.slf4j:slf4j-api:{slf4j}",
        f"org.slf4j:slf4j-simple:{slf4j}",
        # The broker's own code names it, whoever does the logging.
        *(["ch.qos.reload4j:reload4j:1.2.25"] if before_4 else []),
    ]


# Kafka Connect's web server and Kafka Streams' database hang on kafka-tools; no tool used here loads them.
_NOT_NEEDED = [
    "org.rocksdb:rocksdbjni",
    "org.eclipse.jetty:*",
    "org.eclipse.jetty.ee10:*",
    "org.glassfish.jersey.containers:*",
    "org.glassfish.jersey.inject:*",
    "org.slf4j:slf4j-reload4j",
]


class MavenError(Exception):
    """Maven is absent or could not fetch; the text says which."""


def class_path(cache: Path, version: str = KAFKA_VERSION) -> str:
    """A Java class path with Kafka's broker, tools and clients below the folder `cache`; MavenError."""
    return f"{_ensure(cache / f'kafka-{version}', _pom(_dependencies(version), _NOT_NEEDED))}{os.sep}*"


def client_jars(cache: Path, version: str) -> Path:
    """The folder with an older release's Java clients; of 0.8 with the broker's jar, where its consumers are.

    Raises:
        MavenError: see there.
    """
    artifact = "kafka_2.11" if version.startswith("0.8.") else "kafka-clients"
    silent = [f"org.slf4j:{name}:1.7.36" for name in ("slf4j-nop", "log4j-over-slf4j")]
    no_logs = ["log4j:log4j", "org.slf4j:slf4j-log4j12"]
    pom = _pom([f"org.apache.kafka:{artifact}:{version}", *silent], no_logs)
    return _ensure(cache / f"{artifact}-{version}", pom)


def streams_jars(cache: Path) -> Path:
    """The folder with Kafka Streams and what it needs, but not its database on disk; MavenError."""
    dependencies = [
        f"org.apache.kafka:kafka-streams:{KAFKA_VERSION}",
        "org.slf4j:slf4j-simple:2.0.17",
    ]
    return _ensure(cache / f"kafka-streams-{KAFKA_VERSION}", _pom(dependencies, ["org.rocksdb:rocksdbjni"]))


def zookeeper_path(cache: Path) -> str:
    """A Java class path with ZooKeeper's server, of the version that Apache Kafka 3.9 runs on; MavenError."""
    dependencies = [
        "org.apache.zookeeper:zookeeper:3.8.4",
        "io.dropwizard.metrics:metrics-core:4.1.12.1",
        "org.xerial.snappy:snappy-java:1.1.10.5",
        "org.slf4j:slf4j-nop:1.7.36",
    ]
    loggers = ["ch.qos.logback:logback-classic", "ch.qos.logback:logback-core"]
    return f"{_ensure(cache / 'zookeeper-3.8.4', _pom(dependencies, loggers))}{os.sep}*"


def _ensure(folder: Path, pom: str) -> Path:
    jars = folder / "jars"
    if jars.is_dir():
        return jars
    folder.mkdir(parents=True, exist_ok=True)
    # Fetched beside and renamed when complete: an interrupted or a parallel run leaves nothing half done.
    work = Path(tempfile.mkdtemp(prefix="fetching-", dir=folder))
    try:
        _fetch(work, pom)
        try:
            (work / "jars").rename(jars)
        except OSError:
            if not jars.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return jars


def _fetch(work: Path, pom: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MavenError("mvn is not on the PATH (Debian package maven)")
    (work / "pom.xml").write_text(pom, encoding="utf-8")
    command = [maven, "-q", "-B", "-f", str(work / "pom.xml"), "dependency:copy-dependencies"]
    done = subprocess.run(
        [*command, "-DincludeScope=runtime", f"-DoutputDirectory={work / 'jars'}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise MavenError(f"Maven could not fetch Apache Kafka:\n{pom}\n{done.stdout[-2000:]}")


def _pom(wanted: list[str], not_needed: list[str]) -> str:
    exclusions = "".join(_element("exclusion", name) for name in not_needed)
    dependencies = "\n".join(
        _element("dependency", name, f"<exclusions>{exclusions}</exclusions>") for name in wanted
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>\n"
        "<groupId>kbroker</groupId><artifactId>apache-kafka-for-tests</artifactId><version>1</version>\n"
        f"<dependencies>\n{dependencies}\n</dependencies></project>\n"
    )


def _element(tag: str, coordinates: str, rest: str = "") -> str:
    group, artifact, *version = coordinates.split(":")
    text = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
    return f"<{tag}>{text}{''.join(f'<version>{v}</version>' for v in version)}{rest}</{tag}>"
