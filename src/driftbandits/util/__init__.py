"""Small tools that know nothing of bandits: objects that are written once, and a lock that is fair to waiting threads."""
