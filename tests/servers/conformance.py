#!/usr/bin/env python3
"""Runs the scenarios for clients of @modelcontextprotocol/conformance with the real program.

    conformance.py FOLDER PROGRAM [SCENARIO...]

In each scenario a server of that package is added to the settings of a new home, logged in to if it asks for that, and a
scripted model calls its first tool once. The package, and a newer node if the installed one cannot run it, are stored in
FOLDER (about 240 MB, once) and reused by later runs. The exit code is 75 if they cannot be installed.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

PACKAGE = "@modelcontextprotocol/conformance@0.1.16"
# The package needs `fs.globSync`.
NODE = "node@22"
# Scenarios that must pass; warnings, which are about recommendations, do not count.
PASSES = [
    "tools_call",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/token-endpoint-auth-basic",
    "auth/pre-registration",
]
# Scenarios that fail, each with the reason. If one passes, it belongs to the other list.
FAILS = {
    "initialize": "the package does not know the newest version of the protocol, which aye offers first",
    "auth/scope-step-up": "no new login if a server asks for more scopes",
    "auth/2025-03-26-oauth-metadata-backcompat": "no logins by the rules of 2025-03-26",
    "auth/2025-03-26-oauth-endpoint-fallback": "no logins by the rules of 2025-03-26",
}
NOT_INSTALLED = 75


def install(folder):
    """Returns the command line of the package; exits if it cannot be installed."""
    os.makedirs(folder, exist_ok=True)
    node = "node"
    packages = {PACKAGE: "node_modules/@modelcontextprotocol/conformance/dist/index.js"}
    if subprocess.run([node, "-e", "process.exit(require('fs').globSync ? 0 : 1)"], check=False).returncode:
        packages[NODE] = "node_modules/.bin/node"
        node = os.path.join(folder, packages[NODE])
    missing = [name for name, file in packages.items() if not os.path.exists(os.path.join(folder, file))]
    if missing:
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *missing]
        try:
            failed = subprocess.run(command, timeout=300, check=False).returncode
        except subprocess.TimeoutExpired:
            failed = True
        if failed or not all(os.path.exists(os.path.join(folder, packages[name])) for name in missing):
            print("it cannot be installed")
            sys.exit(NOT_INSTALLED)
    return [node, os.path.join(folder, packages[PACKAGE])]


class Model(http.server.BaseHTTPRequestHandler):
    """A model that calls the first tool of the server once, with the simplest arguments, and then says that it is done."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [tool["function"] for tool in request.get("tools", []) if tool["function"]["name"].startswith("mcp__")]
        if tools and request["messages"][-1]["role"] == "user":
            fields = tools[0]["parameters"].get("properties", {})
            values = {"number": 1, "integer": 1, "boolean": True}
            arguments = {name: values.get(field.get("type"), "a") for name, field in fields.items()}
            function = {"name": tools[0]["name"], "arguments": json.dumps(arguments)}
            delta = {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}
            reason = "tool_calls"
        else:
            delta, reason = {"content": "Done."}, "stop"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for choice in [{"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": reason}]:
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def run_client(program, url):
    """Adds the server, logs in if that is needed, and sends one message."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as root:
        for name in ["aye/config", "project"]:
            os.makedirs(os.path.join(root, name))
        with open(os.path.join(root, "aye/config/config.toml"), "w", encoding="utf-8") as file:
            file.write(f"[model]\ntitles = false\n[mcp.test]\nurl = {json.dumps(url)}\n")
        environment = {"HOME": root, "AYE_HOME": os.path.join(root, "aye"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        start = {"cwd": os.path.join(root, "project"), "env": environment}
        if scenario.startswith("auth/"):
            log_in(program, context, start)
        subprocess.run([program, "mcp", "check", "test"], timeout=60, check=False, **start)
        allow_tools(os.path.join(root, "aye"))
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        command = [program, "-p", "--base-url", address, "--model", "scripted", "go"]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False, **start)
        sys.exit(ended.returncode)


def allow_tools(home):
    """Allows all tools of the server, each by name."""
    if not os.path.exists(os.path.join(home, "data/mcp.json")):
        return  # The server was not reached.
    with open(os.path.join(home, "data/mcp.json"), encoding="utf-8") as file:
        names = set(re.findall(r'"name":\s*"([\w-]+)"', file.read()))
    with open(os.path.join(home, "config/rules.toml"), "w", encoding="utf-8") as file:
        for name in sorted(names):
            file.write(f'[[rule]]\nverdict = "allow"\ntool = "mcp__test__{name}"\nhost = "mcp:test"\n')


def log_in(program, context, start):
    """Logs in as a user whose browser follows every redirect."""
    client = ["--client-id", context["client_id"]] if "client_id" in context else []
    secret = context.get("client_secret", "")
    if secret:
        client += ["--client-secret", "--stdin"]
    command = [program, "mcp", "login", "test", *client]
    login = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **start)
    login.stdin.write(secret)
    login.stdin.close()
    for line in login.stdout:
        print(line, end="", flush=True)
        if re.match(r"https?://\S+[?&]code_challenge=", line):
            try:
                urllib.request.urlopen(line.strip(), timeout=20).read()
            except urllib.error.URLError as error:
                print(f"the browser: {error}")
    login.wait(timeout=30)


def main():
    if sys.argv[1] == "--client":
        run_client(sys.argv[2], sys.argv[-1])
    folder, program = (os.path.abspath(path) for path in sys.argv[1:3])
    conformance = install(folder)
    scenarios = sys.argv[3:] or [*PASSES, *FAILS]
    wrong = []
    for scenario in scenarios:
        client = f"{sys.executable} {os.path.abspath(__file__)} --client {program}"
        command = [*conformance, "client", "--command", client, "--scenario", scenario, "--timeout", "90000"]
        with tempfile.TemporaryDirectory() as results:
            output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            ended = subprocess.run(command, cwd=results, check=False, **output)
        is_passed = re.search(r"^Passed: \d+/\d+, 0 failed", ended.stdout, re.M) and "EXITED WITH ERROR" not in ended.stdout
        print(f"{'passed' if is_passed else 'failed'}: {scenario}", flush=True)
        if sys.argv[3:] or (not is_passed and scenario in PASSES):
            print(ended.stdout)
        if bool(is_passed) != (scenario in PASSES):
            wrong.append(scenario)
    if wrong and not sys.argv[3:]:
        print(f"not as listed: {', '.join(wrong)}")
        sys.exit(1)


main()
