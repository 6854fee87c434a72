"""Apache Kafka's published jars, fetched once with Maven: tools and clients for tests, a broker to compare.

`class_path(folder)` fetches on the first call and answers from `folder` afterwards. Needs `mvn` on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

KAFKA_VERSION = "4.4.0"

_DEPENDENCIES = [
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}",
    "org.slf4j:slf4j-api:2.0.17",
    "org.slf4j:slf4j-simple:2.0.17",
]
# Kafka Connect's web server and Kafka Streams' database hang on kafka-tools; no tool used here loads them.
_NOT_NEEDED = [
    "org.rocksdb:rocksdbjni",
    "org.eclipse.jetty:*",
    "org.eclipse.jetty.ee10:*",
    "org.glassfish.jersey.containers:*",
    "org.glassfish.jersey.inject:*",
]


class MavenError(Exception):
    """Maven is absent or could not fetch; the text says which."""


def class_path(cache: Path) -> str:
    """A Java class path with Kafka's broker, tools and clients below the folder `cache`; MavenError."""
    return f"{_ensure(cache / f'kafka-{KAFKA_VERSION}')}{os.sep}*"


def _ensure(folder: Path) -> Path:
    jars = folder / "jars"
    if jars.is_dir():
        return jars
    folder.mkdir(parents=True, exist_ok=True)
    # Fetched beside and renamed when complete: an interrupted or a parallel run leaves nothing half done.
    work = Path(tempfile.mkdtemp(prefix="fetching-", dir=folder))
    try:
        _fetch(work)
        try:
            (work / "jars").rename(jars)
        except OSError:
            if not jars.is_dir():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return jars


def _fetch(work: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MavenError("mvn is not on the PATH (Debian package maven)")
    (work / "pom.xml").write_text(_pom(), encoding="utf-8")
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
        raise MavenError(f"Maven could not fetch Apache Kafka {KAFKA_VERSION}:\n{done.stdout[-2000:]}")


def _pom() -> str:
    exclusions = "".join(_element("exclusion", name) for name in _NOT_NEEDED)
    dependencies = "\n".join(
        _element("dependency", name, f"<exclusions>{exclusions}</exclusions>") for name in _DEPENDENCIES
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
