"""Hooks of MkDocs besides rendering `docs/`: pages made from code, and files from elsewhere.

The command line's reference is made from the commands. README-like files of the repository become
pages. Any other file that a page links to is put into the site as it is, so that no link leaves it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docsite.commands import command_pages
from docsite.links import links, relinked
from labctl.cli import COMMANDS

ROOT = Path(__file__).parents[1]
DOCS = "docs"
COMMANDS_HERE = "commands"
"""The entry of the navigation in whose place the commands' pages come."""

PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "project/readme.md",
    "SECURITY.md": "project/security-policy.md",
    "examples/orders/README.md": "examples/orders.md",
}
"""Pages of the site from outside `docs/`."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the navigation a page for each command."""
    config.nav = _with_commands(config.nav)
    return config


def _with_commands(entry: Any) -> Any:
    if isinstance(entry, dict):
        return {name: _with_commands(below) for name, below in entry.items()}
    if not isinstance(entry, list):
        return entry
    commands = [{f"labctl {name}": f"commands/{name}.md"} for name in COMMANDS]
    here = [commands if one == COMMANDS_HERE else [_with_commands(one)] for one in entry]
    return [one for some in here for one in some]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the commands' pages, the pages from outside, and the files that pages link to."""
    for name, text in command_pages().items():
        files.append(File.generated(config, f"commands/{name}.md", content=text))
    sources = {DOCS + "/" + file.src_uri: file for file in files.documentation_pages()}
    for source, uri in PAGES.items():
        text = (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, uri, content=text))
    texts = {
        **{
            s: f.content_string for s, f in sources.items() if not f.src_uri.startswith("commands/")
        },
        **{source: (ROOT / source).read_text("utf-8") for source in PAGES},
    }
    for source, text in texts.items():
        for _, target in links(text):
            path = _in_repository(source, target)
            if path and (ROOT / path).exists():
                _bring(path, files, config)
    return files


def _bring(path: str, files: Files, config: MkDocsConfig) -> None:
    """Have the site contain what a page links to; a folder as a page with a list of its files."""
    uri = _uri(path)
    if files.get_file_from_path(uri) is not None:
        return
    if (ROOT / path).is_file():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
        return
    inside = [f"{path}/{one.name}" for one in sorted((ROOT / path).iterdir()) if one.is_file()]
    for one in inside:
        _bring(one, files, config)
    entries = [f"- [{PurePosixPath(one).name}]({_from(uri, _uri(one))})" for one in inside]
    text = "\n".join((f"# {path}", "", *entries, ""))
    files.append(File.generated(config, uri, content=text))


def _uri(path: str) -> str:
    """Return the site's address of a file or folder of the repository."""
    if path in PAGES:
        return PAGES[path]
    if (ROOT / path).is_dir():
        return f"source/{path}/index.md"
    return path.removeprefix(f"{DOCS}/") if path.startswith(f"{DOCS}/") else f"source/{path}"


def _from(page: str, there: str) -> str:
    return os.path.relpath(there, PurePosixPath(page).parent)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links lead to where the site has what they name."""
    uri = page.file.src_uri
    if uri.startswith(("commands/", "source/")):
        return markdown
    by_uri = {site: source for source, site in PAGES.items()}
    source = by_uri.get(uri, f"{DOCS}/{uri}")

    def moved(target: str) -> str:
        path = _in_repository(source, target)
        if path is None:
            return target
        _, mark, anchor = target.partition("#")
        return _from(uri, _uri(path)) + mark + anchor

    return relinked(markdown, moved)


def on_post_build(config: MkDocsConfig) -> None:
    """Check that no page loads anything from elsewhere: the site works without a network."""
    loaded = re.compile(
        r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"']?(https?:[^\"'> ]+)"
    )
    for page in sorted(Path(config.site_dir).rglob("*.html")):
        if found := loaded.search(page.read_text("utf-8")):
            raise PluginError(f"{page} loads {found[1]}")


def _in_repository(source: str, target: str) -> str | None:
    """Return the repository path that a link of `source` names; None: not a file here."""
    name = target.partition("#")[0]
    if not name or re.match(r"[a-z]+:", name):
        return None
    return os.path.normpath(PurePosixPath(source).parent / name)
