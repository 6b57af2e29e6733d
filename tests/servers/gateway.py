#!/usr/bin/env python3
"""A gateway that nobody here wrote: litellm's proxy, with what gateway.yaml beside this file offers.

    gateway.py FOLDER [--port 4000] [--seconds 600]

FOLDER takes a virtual environment (about 740 MB, a minute, once). Another run finds it there and answers after some
ten seconds. It listens on the loopback and asks nobody but whom gateway.yaml names. Its key stands in there.
"""

import argparse
import os
import signal
import subprocess
import sys

PACKAGE = "litellm[proxy]==1.106.2"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=os.path.abspath)
    arguments.add_argument("--port", type=int, default=4000)
    arguments.add_argument("--seconds", type=int, default=600)
    asked = arguments.parse_args()
    config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gateway.yaml")
    place = os.path.join(asked.folder, "venv")
    python, program = (os.path.join(place, "bin", name) for name in ("python", "litellm"))
    # The alarm stays when another program takes over this process, and ends that one.
    signal.alarm(asked.seconds)
    ready = os.path.join(asked.folder, "ready")
    if not os.path.exists(ready) or open(ready).read() != PACKAGE:
        os.makedirs(asked.folder, exist_ok=True)
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", place])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE])
        with open(ready, "w") as file:
            file.write(PACKAGE)
    # Nothing of this machine's keys and proxies reaches it.
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": asked.folder,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
    }
    os.chdir(asked.folder)
    options = ["--config", config, "--host", "127.0.0.1", "--port", str(asked.port), "--telemetry", "False"]
    os.execve(program, [program, *options], environment)


main()
