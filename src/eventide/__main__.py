"""`python -m eventide` is the command line."""

import sys

from eventide.cli.main import main

sys.exit(main())
