"""`python -m tidegate.detectors.injection.train DATA_DIR --date DATE`."""

import sys

from .run import main

sys.exit(main())
