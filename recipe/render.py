"""Write dist/recipe.yaml, the recipe for conda-forge with the hash of the sdist in dist, and render it.

``make recipe`` runs this after ``make dist``. Rendering is what conda-forge does first: it reads the recipe by its
schema and settles platform, compiler and Python. Nothing is built or downloaded here.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "0" * 64
"""The hash in the recipe of the sources, which no file has."""
PLATFORMS = ("linux-64", "osx-arm64", "win-64")
VARIANTS = {
    "python": ["3.11.* *_cpython", "3.14.* *_cp314"],
    "c_compiler": ["gcc"],
    "c_compiler_version": ["14"],
    "c_stdlib": ["sysroot"],
    "c_stdlib_version": ["2.17"],
}


def main() -> None:
    """Write the recipe and say what it gives on each platform."""
    (sdist,) = (ROOT / "dist").glob("ecsel-*.tar.gz")
    text = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    written = ROOT / "dist" / "recipe.yaml"
    written.write_text(text.replace(UNKNOWN, digest), encoding="utf-8")
    recipe = Stage0Recipe.from_file(written)
    for platform in PLATFORMS:
        config = RenderConfig(platform=PlatformConfig(target_platform=platform, build_platform=platform))
        rendered = [each.recipe for each in recipe.render(VariantConfig(VARIANTS), config)]
        versions = {str(each.package.version) for each in rendered}
        needed = ", ".join(map(str, rendered[0].requirements.run))
        sys.stdout.write(f"{platform}: {len(rendered)} packages of version {versions.pop()}, run with {needed}\n")


if __name__ == "__main__":
    main()
