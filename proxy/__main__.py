"""`python -m tidegate.proxy` is `tidegate`."""

import sys

from .cli import main

sys.exit(main())
