"""The documentation as a site: pages of Markdown and notebooks, built into a folder that opens offline."""

from eventide.site.building import Built, build

__all__ = ["Built", "build"]
