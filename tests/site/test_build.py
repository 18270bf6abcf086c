"""The site: every page is there, every link leads somewhere, and a broken one is told with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.generated import ROOT, pages

from eventide.errors import EventideError, InputError
from eventide.site import build


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    build(ROOT, out)
    return out


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of two pages."""
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    (tmp_path / "README.md").write_text("# Start\n\n[write](docs/how-to/write.md#a-b-c)\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    (tmp_path / "docs" / "how-to" / "write.md").write_text("# How to write\n\nText <&>.\n\n## A `b`, c\n\nMore.\n")
    return tmp_path


def test_every_page_of_the_documentation_is_built(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert "index.html" in built
    assert len(built) >= len(pages())


def test_links_inside_the_site_lead_to_files_and_places(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            if not target.startswith(("http:", "https:", "data:")):
                name, _, anchor = target.partition("#")
                file = (page.parent / name).resolve() if name else page
                assert file.is_file(), f"{page}: {target}"
                assert not anchor or file.suffix != ".html" or f'id="{anchor}"' in file.read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for file in (*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.js")):
        assert not re.search(r'(?:src="|@import|url\()\s*["\']?https?:', file.read_text(encoding="utf-8")), file


def test_a_page_has_its_title_menu_code_and_text(checkout: Path, tmp_path: Path) -> None:
    assert build(checkout, tmp_path / "site").pages == 3
    page = (tmp_path / "site" / "how-to" / "write.html").read_text(encoding="utf-8")
    assert "<title>How to write · Eventide</title>" in page
    assert '<a href="write.html" aria-current="page">Write</a>' in page
    assert '<h2 id="a-b-c">' in page
    assert "Text &lt;&amp;&gt;." in page
    assert 'href="how-to/write.html#a-b-c"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "message"), [
    ("[x](docs/how-to/wrte.md)", "README.md:3:1: error: the link leads to docs/how-to/wrte.md, which is not there "
     "[broken-link]\n    hint: did you mean 'write.md'?"),
    ("a\n[x](docs/how-to/write.md#a-b-d)", "README.md:4:1: error: docs/how-to/write.md has no heading #a-b-d "
     "[broken-link]\n    hint: did you mean 'a-b-c'?"),
    ("![x](../other.png)", "README.md:3:1: error: the link leads to ../other.png, which is not there"),
])
def test_a_broken_link(checkout: Path, tmp_path: Path, text: str, message: str) -> None:
    (checkout / "README.md").write_text(f"# Start\n\n{text}\n")
    with pytest.raises(InputError) as error:
        build(checkout, tmp_path / "site")
    assert str(error.value).startswith(message)
    assert not (tmp_path / "site").exists()


def test_an_earlier_site_is_replaced_and_other_folders_are_not(checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    build(checkout, out)
    (out / "old.html").write_text("old")
    build(checkout, out)
    assert not (out / "old.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("x")
    with pytest.raises(EventideError, match="holds something else"):
        build(checkout, tmp_path / "mine")
    assert [path.name for path in tmp_path.glob(".site*")] == []


def test_a_page_in_no_section(checkout: Path, tmp_path: Path) -> None:
    (checkout / "docs" / "stray.md").write_text("# Stray\n")
    with pytest.raises(EventideError, match=r"docs/stray\.md is in no section"):
        build(checkout, tmp_path / "site")
