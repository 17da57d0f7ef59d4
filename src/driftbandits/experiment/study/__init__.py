"""Studies: questions that a panel's TOML file cannot express, answered by a small function.

The function asks for cells and turns their results into what is written; `docs/studies.md` is the guide, `experiments/drift_study.py` an
example. Cells are kept in the same kind of store as those of panels, named by the code and the arguments that decide them.
"""

from .cells import Cells
from .study import Report, Study, study
from .table import few, table

__all__ = ["Cells", "Report", "Study", "few", "study", "table"]
