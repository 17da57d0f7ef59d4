"""Other ecosystems' interfaces. Nothing here is imported by `import driftbandits`."""
