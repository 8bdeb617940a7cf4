"""`python -m opsgym_operator` runs the operator."""

import sys

from opsgym_operator.main import main

sys.exit(main())
