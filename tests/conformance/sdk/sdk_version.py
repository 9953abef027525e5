"""Which release is under test."""
from importlib.metadata import version

TEXT = version("azure-ai-ml")
SHORT = ".".join(TEXT.split(".")[:2])
NUMBERS = tuple(int(part) for part in SHORT.split("."))
OLD = NUMBERS < (1, 30)
