"""The Java that Spark gets: the machine's own when it will do, otherwise the packaged one behind a launcher."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eventide.java import VECTOR_MODULE, ensure_java, find_java

NO_JAVA = {"PATH": "", "HOME": ""}


def fake_java(home: Path, version: str, modules: str | None = None) -> Path:
    """A folder that looks like a Java runtime."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nprintf "    java.home = {home}\\n    java.version = {version}\\n" >&2\n')
    command.chmod(0o755)
    if modules is not None:
        (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


def test_a_new_enough_java_of_the_machine_is_used(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.1", f"java.base {VECTOR_MODULE}")
    assert ensure_java({"JAVA_HOME": str(home), "PATH": ""})["JAVA_HOME"] == str(home)
    assert ensure_java({"PATH": str(home / "bin")})["JAVA_HOME"] == str(home)


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "21.0.3")
    assert find_java({"PATH": str(home / "bin")}).version == 21


def test_java_home_that_is_too_old_gives_way_to_the_path(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    new = fake_java(tmp_path / "new", "21.0.3")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}).home == new


@pytest.mark.parametrize(
    ("version", "modules"),
    [
        ("1.8.0_402", None),
        ("11.0.2", None),
        ("16.0.1", f"java.base {VECTOR_MODULE}"),
        ("21.0.1", "java.base"),
        ("", None),
    ],
)
def test_a_java_that_spark_cannot_use_gives_way_to_the_packaged_one(
    tmp_path: Path, version: str, modules: str | None
) -> None:
    home = fake_java(tmp_path / "jdk", version, modules)
    java = find_java({"JAVA_HOME": str(home), "PATH": str(home / "bin")})
    assert java.home != home
    assert java.version >= 17


def test_the_launcher_drops_the_argument_that_the_packaged_java_refuses() -> None:
    home = ensure_java(NO_JAVA)["JAVA_HOME"]
    options = [f"--add-modules={VECTOR_MODULE}", "-Dname=two words", "-XshowSettings:properties", "-version"]
    done = subprocess.run([f"{home}/bin/java", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "name = two words" in done.stderr


def test_the_launcher_is_itself_a_java_home() -> None:
    home = ensure_java(NO_JAVA)["JAVA_HOME"]
    assert str(find_java({"JAVA_HOME": home, "PATH": ""}).home) == home


@pytest.mark.spark
def test_spark_starts_and_runs_python_workers(spark: Any) -> None:
    def doubled(batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": [2 * x.as_py() for x in batch.column(0)]})

    assert spark.range(5).mapInArrow(doubled, "id long").toArrow().column(0).to_pylist() == [0, 2, 4, 6, 8]


@pytest.mark.spark
@pytest.mark.slow
def test_spark_starts_on_the_packaged_java() -> None:
    program = (
        "import os; from eventide.java import ensure_java\n"
        "os.environ.update(ensure_java({'PATH': '', 'HOME': ''}))\n"
        "from pyspark.sql import SparkSession\n"
        "local = {'spark.driver.bindAddress': '127.0.0.1', 'spark.driver.host': '127.0.0.1'}\n"
        "builder = SparkSession.builder.master('local[1]').config(map=local).config('spark.ui.enabled', 'false')\n"
        "session = builder.getOrCreate()\n"
        "print(session._jvm.System.getProperty('java.home'), session.range(7).count())\n"
        "session.stop()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    home, rows = done.stdout.split()[-2:]
    assert home.endswith("java-runtime")
    assert rows == "7"
