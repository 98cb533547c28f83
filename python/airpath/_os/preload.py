"""The first import of worker processes: it keeps pyarrow from importing pandas."""

import sys

from airpath._os.no_pandas import NoPandas

sys.meta_path.insert(0, NoPandas)
