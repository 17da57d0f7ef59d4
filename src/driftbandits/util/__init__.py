"""General tools, independent of bandits: attributes that are set once, a fair lock, and imports by old module names."""
