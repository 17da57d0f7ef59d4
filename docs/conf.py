"""The site: `make docs` builds it into build/site, offline; every warning is an error.

Markdown by MyST, docstrings by numpydoc, tutorials run by sphinx-gallery, formulas as MathML (`pages/mathml.py`). Nothing on a page comes
from another machine, and search is Sphinx's own, in the browser.
"""

import pathlib
import sys
import warnings
from typing import Any

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from pages import generated  # noqa: E402

import driftbandits  # noqa: E402
from driftbandits.plots.style import stylesheet  # noqa: E402

generated.write(HERE)
(HERE / "static" / "roles.css").write_text(stylesheet())

project = "driftbandits"
author = "The driftbandits developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = driftbandits.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "pages.docstrings",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "pages.mathml",
    "pages.indices_sphinx",
    "pages.codelines",
    "pages.names",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_templates",
    "gallery",
    "generated/reference_toctree.md",
    "generated/table1.md",
    "generated/which.md",
    "pages",
    "static",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!driftbandits|db\.).*")]  # types of other libraries: their sites are elsewhere
default_role = "py:obj"
smartquotes = False  # an option keeps its two dashes
show_warning_types = True
suppress_warnings = ["misc.highlighting_failure"]  # code with … in it is meant

# -------------------------------------------------------------------------------------------------------------- Markdown
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# ------------------------------------------------------------------------------------------------------------- docstrings
autosummary_generate = [str(path) for path in sorted((HERE / "reference").glob("*.rst"))]
autosummary_imported_members = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_type_aliases = {}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
viewcode_follow_imported_members = True
viewcode_line_numbers = True


# -------------------------------------------------------------------------------------------------------------- tutorials
def house_style(gallery_conf: dict[str, Any], fname: str) -> None:
    """Pictures of the tutorials: quiet axes, and warnings are errors as they are in tests."""
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 3.8),
            "figure.dpi": 100,
            "savefig.dpi": 160,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            "font.size": 10,
        }
    )


sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["tutorials"],
    "filename_pattern": r"\.py",
    "within_subsection_order": "pages.generated.TutorialOrder",
    "reset_modules": ("matplotlib", "conf.house_style"),
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "only_warn_on_example_error": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.md",
    "doc_module": ("driftbandits",),
    "reference_url": {"driftbandits": None},
    "backreferences_dir": None,
    "capture_repr": ("_repr_html_", "__repr__"),
    "plot_gallery": True,
}

# ------------------------------------------------------------------------------------------------------------------- page
html_theme = "pydata_sphinx_theme"
html_title = "driftbandits"
html_static_path = ["static"]
html_css_files = ["roles.css", "site.css"]
html_favicon = "static/logo.svg"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # it fetches pages, which a browser refuses where the site is opened as files
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "driftbandits", "image_light": "static/logo.svg", "image_dark": "static/logo.svg"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "footer_start": ["sphinx-version"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
warnings.filterwarnings("ignore", category=DeprecationWarning, module="sphinx_gallery")


def root_links(app: Any, docname: str, source: list[str]) -> None:
    """Pages at the root of the repository have a page here; their links work on both."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        source[0] = source[0].replace(f"](../{name}.md)", f"]({name.lower()}.md)")


def setup(app: Any) -> None:
    """Tell Sphinx."""
    app.connect("source-read", root_links)
