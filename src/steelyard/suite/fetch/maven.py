"""Artifacts of Maven repositories, by the user's mvn with its settings and mirrors."""

from __future__ import annotations

import os
from xml.sax.saxutils import escape

from steelyard.suite.fetch.source_kind import Wanted
from steelyard.suite.recipe import Artifact
from steelyard.suite.tool_command import run_tool, tool

_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>steelyard</groupId><artifactId>fetch</artifactId><version>1</version>
  <packaging>pom</packaging>
  <build><plugins><plugin>
    <artifactId>maven-dependency-plugin</artifactId>
    <configuration>
      <outputDirectory>{directory}</outputDirectory>
      <artifactItems>
{items}
      </artifactItems>
    </configuration>
  </plugin></plugins></build>
</project>
"""


def fetch_maven(wanted: Wanted, directory: str, state: str) -> None:
    """Copy each artifact alone, without what it depends on."""
    mvn = tool("mvn", "maven", "Fetching from a Maven repository")
    project = os.path.join(directory, "pom.xml")
    items = "\n".join(map(_item, wanted.artifacts))
    with open(project, "w") as file:
        file.write(_PROJECT.format(directory=escape(directory), items=items))
    waiting = ("-Daether.connector.connectTimeout=15000", "-Dmaven.wagon.http.retryHandler.count=1")
    call = [mvn, "--batch-mode", "--quiet", *waiting, "-f", project, "dependency:copy"]
    run_tool(call, directory)


def _item(artifact: Artifact) -> str:
    group, name, version, *classifier = artifact.coordinates
    parts = [("groupId", group), ("artifactId", name), ("version", version)]
    parts += [("classifier", word) for word in classifier]
    parts.append(("type", os.path.splitext(artifact.file)[1].lstrip(".") or "jar"))
    parts.append(("destFileName", artifact.file))
    inside = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in parts)
    return f"        <artifactItem>{inside}</artifactItem>"
