"""The import path by which the tests of this folder share modules."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
