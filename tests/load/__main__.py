"""Run the test application without the product: `python -m tests.load '{"workers": 2, "limits": {"waiting": 4}}'`.

`app/__init__.py` imports the hub and the identity service, which takes seconds; `app.kit` needs neither of them.
"""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

package = ModuleType("app")
package.__path__ = [str(Path(__file__).parents[2] / "app")]
sys.modules["app"] = package
application = importlib.import_module("tests.load.application")
sys.exit(application.main(json.loads(sys.argv[1])))
