#!/usr/bin/env python3
"""A third-party gateway for the tests: litellm's proxy, configured by gateway.yaml in this folder.

    gateway.py FOLDER [--port 4000] [--seconds 600]

A virtual environment is installed into FOLDER (about 740 MB, a minute, once); later runs start within about ten
seconds. The gateway listens on the loopback and connects only to the addresses in gateway.yaml, which also has its key.
If it ends, its status is printed, and it is started again.
"""

import argparse
import os
import subprocess
import sys
import time

PACKAGE = "litellm[proxy]==1.106.2"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=os.path.abspath)
    arguments.add_argument("--port", type=int, default=4000)
    arguments.add_argument("--seconds", type=int, default=600)
    options = arguments.parse_args()
    config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gateway.yaml")
    place = os.path.join(options.folder, "venv")
    python, program = (os.path.join(place, "bin", name) for name in ("python", "litellm"))
    end = time.monotonic() + options.seconds
    ready = os.path.join(options.folder, "ready")
    if not os.path.exists(ready) or open(ready).read() != PACKAGE:
        os.makedirs(options.folder, exist_ok=True)
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", place])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE])
        with open(ready, "w") as file:
            file.write(PACKAGE)
    # The gateway gets no keys and proxies of this machine.
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": options.folder,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
    }
    os.chdir(options.folder)
    flags = ["--config", config, "--host", "127.0.0.1", "--port", str(options.port), "--telemetry", "False"]
    while (seconds := end - time.monotonic()) > 0:
        started = time.monotonic()
        gateway = subprocess.Popen([program, *flags], env=environment)
        try:
            status = gateway.wait(seconds)
        except subprocess.TimeoutExpired:
            gateway.kill()
            return
        # A negative status is the signal that ended it.
        print(f"The gateway ended with status {status} after {time.monotonic() - started:.0f} s.", flush=True)
        time.sleep(1)


main()
