#!/usr/bin/env python3
"""Runs the scenarios for clients of @modelcontextprotocol/conformance with the real program.

    conformance.py FOLDER PROGRAM [SCENARIO...]

In each scenario a server of that package is added to the settings of a new home, logged in to if it asks for that, and a
scripted model calls its first tool once. If the program then says that a login is needed, its user logs in again, confirms what
the program asks, and sends the message again. The package, and a newer node if the installed one cannot run it, are stored in
FOLDER (about 240 MB, once) and reused by later runs. The exit code is 75 if they cannot be installed.
"""

import http.server
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

# In the last version without "alpha", 0.1.16, a server of 2025-03-26 names an issuer that is not the one of its metadata.
PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# The package needs `fs.globSync`.
NODE = "node@22"
# All must pass; warnings, which are about recommendations, do not count.
SCENARIOS = [
    "initialize",
    "tools_call",
    "sse-retry",
    "json-schema-ref-no-deref",
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
    "auth/scope-step-up",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/metadata-issuer-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/authorization-server-migration",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "sep-2322-client-request-state",
]
# Scenarios of the protocol version 2026-07-28, which has no handshake. Some treat an attempted one as a failure.
WITHOUT_HANDSHAKE = SCENARIOS[-5:]
# Left out: elicitation-sep1034-client-defaults needs a screen, json-schema-2020-12-preservation a model that repeats the schema
# of a tool, which is offered without `$schema`, and http-invalid-tool-headers passes without a connection. The extensions are
# not supported.
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
    """A model that makes the call whose number the message is, and then says that it is done. The calls are those of the
    scenario, or one of each tool with the simplest arguments."""

    # The calls of the scenario, each with `name` and `arguments`.
    calls = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [tool["function"] for tool in request.get("tools", []) if tool["function"]["name"].startswith("mcp__")]
        if tools and request["messages"][-1]["role"] == "user":
            calls = [(f"mcp__test__{call['name']}", call["arguments"]) for call in self.calls]
            calls = calls or [(tool["name"], simple_arguments(tool)) for tool in tools]
            name, arguments = calls[int(request["messages"][-1]["content"])]
            function = {"name": name, "arguments": json.dumps(arguments)}
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


def simple_arguments(tool):
    """Returns an argument for each parameter of a tool."""
    values = {"number": 1, "integer": 1, "boolean": True}
    fields = tool["parameters"].get("properties", {})
    return {name: values.get(field.get("type"), "a") for name, field in fields.items()}


def run_client(program, url):
    """Adds the server, logs in if that is needed, and sends one message for each call."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    Model.calls = context.get("toolCalls", [])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as root:
        for name in ["aye/config", "project"]:
            os.makedirs(os.path.join(root, name))
        with open(os.path.join(root, "aye/config/config.toml"), "w", encoding="utf-8") as file:
            file.write(f"[model]\ntitles = false\n[mcp.test]\nurl = {json.dumps(url)}\n")
            if scenario in WITHOUT_HANDSHAKE:
                file.write("handshake = false\n")
        environment = {"HOME": root, "AYE_HOME": os.path.join(root, "aye"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        start = {"cwd": os.path.join(root, "project"), "env": environment}
        if scenario.startswith("auth/"):
            log_in(program, context, start)
        subprocess.run([program, "mcp", "check", "test"], timeout=60, check=False, **start)
        allow_tools(os.path.join(root, "aye"))
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        # A call that follows the result of another one in the same turn would need an approval.
        calls = len(Model.calls) or (4 if scenario == "sep-2322-client-request-state" else 1)
        for number in range(calls):
            command = [program, "-p", "--base-url", address, "--model", "scripted", str(number)]
            for _ in range(5):
                ended = subprocess.run(command, timeout=60, check=False, **output, **start)
                print(ended.stdout, flush=True)
                if "Login needed: aye mcp login test" not in ended.stdout or not log_in(program, context, start):
                    break
                # Tools that are listed only after the login.
                allow_tools(os.path.join(root, "aye"))
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
    """Logs in as a user who confirms every question and whose browser follows every redirect. Returns whether that works."""
    client = ["--client-id", context["client_id"]] if "client_id" in context else []
    secret = context.get("client_secret", "")
    if secret:
        client += ["--client-secret", "--stdin"]
    command = [program, "mcp", "login", "test", *client]
    terminal, its_end = pty.openpty()
    stdin = subprocess.PIPE if secret else its_end
    login = subprocess.Popen(command, stdin=stdin, stdout=its_end, stderr=its_end, **start)
    os.close(its_end)
    if secret:
        login.stdin.write(secret.encode())
        login.stdin.close()
    unread = ""
    while True:
        try:
            unread += os.read(terminal, 4096).decode(errors="replace")
        except OSError:  # The program has ended.
            break
        if unread.endswith("type yes: "):
            print(unread, flush=True)
            unread = ""
            os.write(terminal, b"yes\n")
        *lines, unread = unread.split("\n")
        for line in lines:
            print(line, flush=True)
            if re.match(r"https?://\S+[?&]code_challenge=", line):
                try:
                    urllib.request.urlopen(line.strip(), timeout=20).read()
                except urllib.error.URLError as error:
                    print(f"the browser: {error}")
    os.close(terminal)
    return login.wait(timeout=30) == 0


def main():
    if sys.argv[1] == "--client":
        run_client(sys.argv[2], sys.argv[-1])
    folder, program = (os.path.abspath(path) for path in sys.argv[1:3])
    conformance = install(folder)
    scenarios = sys.argv[3:] or SCENARIOS
    failed = []
    for scenario in scenarios:
        client = f"{sys.executable} {os.path.abspath(__file__)} --client {program}"
        command = [*conformance, "client", "--command", client, "--scenario", scenario, "--timeout", "90000"]
        with tempfile.TemporaryDirectory() as results:
            output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            ended = subprocess.run(command, cwd=results, check=False, **output)
        is_passed = re.search(r"^Passed: \d+/\d+, 0 failed", ended.stdout, re.M) and "EXITED WITH ERROR" not in ended.stdout
        print(f"{'passed' if is_passed else 'failed'}: {scenario}", flush=True)
        if sys.argv[3:] or not is_passed:
            print(ended.stdout)
        if not is_passed:
            failed.append(scenario)
    if failed:
        print(f"failed: {', '.join(failed)}")
        sys.exit(1)


main()
