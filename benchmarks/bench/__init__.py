"""Side by side with what one would pick instead: `make bench`, `make bench-quick`. See docs/benchmarks.md."""
