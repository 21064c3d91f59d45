"""Compiles a page's Kotlin against Android's classes and the libraries that its build file names, with packages from Maven Central."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.documentation.quickstarts import Block

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId>
  <artifactId>test</artifactId>
  <version>1</version>
  <dependencies>{}
  </dependencies>
</project>
"""
DEPENDENCY = """
    <dependency>
      <groupId>{}</groupId>
      <artifactId>{}</artifactId>
      <version>{}</version>
      <type>{}</type>{}
    </dependency>"""
ALONE = """
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"""
"""Of libraries, which need others of a registry that is not asked: their types are in no signature that the page uses."""
COMPILER = ("org.jetbrains.kotlin", "kotlin-compiler-embeddable", "2.2.0", "jar", "")
ANDROID = ("org.robolectric", "android-all", "15-robolectric-12650502", "jar", ALONE)


def compile_for_android(blocks: Sequence[Block], folder: Path) -> None:
    """Fail if the files among the blocks do not compile, or only with a warning."""
    libraries = re.findall(r'implementation\("([^:"]+):([^:"]+):([^:"]+)"\)', "".join(block.code for block in blocks))
    assert libraries, "the page names no library"
    jars, sources = folder / "jars", folder / "sources"
    expected = [COMPILER, ANDROID, *((*library, "aar", ALONE) for library in libraries)]
    (folder / "pom.xml").write_text(POM.format("".join(DEPENDENCY.format(*item) for item in expected)))
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    subprocess.run(["mvn", "-q", "-B", goal, f"-DoutputDirectory={jars}"], cwd=folder, check=True)
    for archive in jars.glob("*.aar"):
        with zipfile.ZipFile(archive) as stored:
            archive.with_suffix(".classes.jar").write_bytes(stored.read("classes.jar"))
    for block in blocks:
        if block.file:
            block.write(sources)
    everything = os.pathsep.join(map(str, jars.glob("*.jar")))
    compiler = ["java", "-cp", everything, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect"]
    options = ["-Werror", "-jvm-target", "17", "-cp", everything, "-d", str(folder / "classes")]
    subprocess.run([*compiler, *options, *map(str, sources.rglob("*.kt"))], check=True)
