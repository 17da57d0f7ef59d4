"""What makes the site beside its Markdown: pages written from the code and from result files, and small Sphinx extensions."""
